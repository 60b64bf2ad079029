// Carries the bodies of Beast and of Asio's TLS, compiled once (BOOST_BEAST_SEPARATE_COMPILATION,
// BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
