#include "runtime/span.hpp"

#include <utility>

#include "runtime/core.hpp"
#include "runtime/report.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::runtime {

void Span::begin(const Call& call, SpanKind kind, std::string_view name) {
    if (call.core == nullptr || call.core->spans() == nullptr) return;
    queue_ = call.core->spans();
    open_ = std::make_unique<EndedSpan>();
    open_->trace = call.trace;
    open_->trace.parent_id = call.trace.span_id;
    open_->trace.span_id = make_span_id(call.core->random());
    open_->kind = kind;
    open_->name = name;
    open_->begin = std::chrono::steady_clock::now();
}

Span& Span::operator=(Span&& other) noexcept {
    if (this == &other) return *this;
    end();
    open_ = std::move(other.open_);
    queue_ = other.queue_;
    return *this;
}

void Span::set(std::string_view name, std::string_view text) {
    if (open_) open_->attributes.push_back({.name = name, .value = std::string(text)});
}

void Span::set(std::string_view name, std::int64_t number) {
    if (open_) open_->attributes.push_back({.name = name, .value = number});
}

void Span::fail(std::string why) {
    if (!open_) return;
    open_->failed = true;
    open_->failure = std::move(why);
}

void Span::fail(const std::exception_ptr& failure) {
    if (open_) fail(describe_failure(failure));
}

void Span::end() {
    if (!open_) return;
    open_->end = std::chrono::steady_clock::now();
    queue_->put(std::move(*open_));
    open_.reset();
}

void follow(Call& call, const Trace& starter) {
    if (!starter.sampled) return;
    call.trace = starter;
}

}  // namespace tenon::runtime
