#include "app/probe.hpp"

#include <curl/curl.h>

#include <memory>

namespace tenon::app {

namespace {

constexpr std::size_t body_bytes_max = 1 << 20;

std::size_t keep(char* data, std::size_t size, std::size_t count, void* body) {
    auto& text = *static_cast<std::string*>(body);
    if (text.size() + size * count > body_bytes_max) return 0;
    text.append(data, size * count);
    return size * count;
}

using Request = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

}  // namespace

Answer ask(const std::string& url, const std::string& key) {
    Answer answer;
    const Request request(curl_easy_init(), &curl_easy_cleanup);
    if (!request) return {.why_none = "libcurl does not start"};
    const auto credentials = "Authorization: Bearer " + key;
    const Headers headers(key.empty() ? nullptr : curl_slist_append(nullptr, credentials.c_str()),
                          &curl_slist_free_all);
    curl_easy_setopt(request.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(request.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(request.get(), CURLOPT_TIMEOUT_MS, 2'000L);
    curl_easy_setopt(request.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(request.get(), CURLOPT_WRITEFUNCTION, &keep);
    curl_easy_setopt(request.get(), CURLOPT_WRITEDATA, &answer.body);
    if (key.empty()) {
        // Whether it is ready is asked by an address, which a certificate hardly names; nothing
        // secret is sent.
        curl_easy_setopt(request.get(), CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(request.get(), CURLOPT_SSL_VERIFYHOST, 0L);
    }
    const auto outcome = curl_easy_perform(request.get());
    if (outcome != CURLE_OK) return {.why_none = curl_easy_strerror(outcome)};
    curl_easy_getinfo(request.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
}

bool is_ready(const std::string& url) {
    return ask(url + "/readyz").status == 200;
}

bool accepts_key(const std::string& url, const std::string& key) {
    return ask(url + "/v1/links?limit=1", key).status != 401;
}

}  // namespace tenon::app
