#include "runtime/blocking_thread.hpp"

#include <pthread.h>

#include "base/assert.hpp"
#include "runtime/report.hpp"

namespace tenon::runtime {

/// Work whose end nobody waits for.
struct BlockingThread::Posted final : Job {
    Posted(std::string title, std::function<void()> what)
        : Job(Deadline::max()), name(std::move(title)), work(std::move(what)) {}
    void act() override {
        try {
            work();
        } catch (...) {
            report_failure(name, std::current_exception());
        }
    }
    void refuse(std::exception_ptr failure) override { report_failure(name, failure); }
    std::string name;
    std::function<void()> work;
};

BlockingThread::BlockingThread(Options options)
    : options_(std::move(options)), thread_([this] { loop(); }) {
    TENON_ASSERT(options_.queue_max > 0);
}

BlockingThread::~BlockingThread() {
    stop();
}

bool BlockingThread::try_post(std::string name, std::function<void()> work) {
    return push(std::make_unique<Posted>(std::move(name), std::move(work)));
}

bool BlockingThread::push(std::unique_ptr<Job> job) {
    {
        const std::lock_guard lock(guard_);
        if (stopped_ || jobs_.size() >= options_.queue_max) return false;
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
}

Unavailable BlockingThread::refusal() {
    return {"the thread for blocking calls is full or stopped", std::chrono::seconds(1)};
}

std::unique_ptr<BlockingThread::Job> BlockingThread::next() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
    if (stopped_) return nullptr;
    std::unique_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
}

void BlockingThread::loop() {
    ::pthread_setname_np(::pthread_self(), options_.name.substr(0, 15).c_str());
    while (const std::unique_ptr<Job> job = next()) {
        if (job->deadline <= std::chrono::steady_clock::now()) {
            job->refuse(std::make_exception_ptr(
                DeadlineExceeded("the deadline passed before a blocking call could begin")));
        } else {
            job->act();
        }
    }
}

void BlockingThread::stop() {
    std::deque<std::unique_ptr<Job>> refused;
    {
        const std::lock_guard lock(guard_);
        stopped_ = true;
        refused.swap(jobs_);
    }
    changed_.notify_one();
    for (const auto& job : refused) job->refuse(std::make_exception_ptr(refusal()));
    if (thread_.joinable()) thread_.join();
}

std::size_t BlockingThread::waiting() const {
    const std::lock_guard lock(guard_);
    return jobs_.size();
}

}  // namespace tenon::runtime
