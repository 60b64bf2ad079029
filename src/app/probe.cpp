#include "app/probe.hpp"

#include <curl/curl.h>

#include <memory>

namespace tenon::app {

namespace {

std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
}

}  // namespace

bool is_ready(const std::string& url) {
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> request(curl_easy_init(),
                                                                      &curl_easy_cleanup);
    if (!request) return false;
    const auto target = url + "/readyz";
    curl_easy_setopt(request.get(), CURLOPT_URL, target.c_str());
    curl_easy_setopt(request.get(), CURLOPT_TIMEOUT_MS, 2'000L);
    curl_easy_setopt(request.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(request.get(), CURLOPT_WRITEFUNCTION, &drop);
    if (curl_easy_perform(request.get()) != CURLE_OK) return false;
    long status = 0;
    curl_easy_getinfo(request.get(), CURLINFO_RESPONSE_CODE, &status);
    return status == 200;
}

}  // namespace tenon::app
