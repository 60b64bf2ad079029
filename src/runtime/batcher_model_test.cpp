// Batcher against a naive model: every item by itself, with failures at random.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/batcher.hpp"
#include "runtime/failure.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;

/// What the engine of one case does.
struct Plan {
    std::vector<int> items;    ///< distinct, in order of arrival
    std::set<int> bad;         ///< refused by the engine whenever they are in a run
    int lost_connections = 0;  ///< runs that fail as a whole and may be repeated
    std::size_t gap = 1;       ///< items that arrive per turn of the loop
    BatchOptions options;
};

Plan draw_plan() {
    Plan plan;
    const int count = *rc::gen::inRange(1, 120);
    for (int item = 0; item < count; ++item) {
        plan.items.push_back(item);
        if (*rc::gen::inRange(0, 12) == 0) plan.bad.insert(item);
    }
    plan.lost_connections = *rc::gen::inRange(0, 6) == 0 ? *rc::gen::inRange(1, 4) : 0;
    plan.gap = *rc::gen::inRange<std::size_t>(1, 40);
    plan.options.batch_max = *rc::gen::inRange<std::size_t>(1, 50);
    plan.options.in_flight_max = *rc::gen::inRange<std::size_t>(1, 4);
    return plan;
}

/// The engine: applies a run wholly or not at all, as a transaction does.
struct Engine {
    explicit Engine(const Plan& drawn) : plan(drawn), lost_left(drawn.lost_connections) {}

    asio::awaitable<std::vector<std::string>> run(Call& call, std::span<const int> items) {
        RC_ASSERT(items.size() <= plan.options.batch_max);
        RC_ASSERT(std::ranges::is_sorted(items));
        RC_ASSERT(++running <= plan.options.in_flight_max);
        co_await asio::post(call.core->io(), asio::use_awaitable);
        --running;
        if (lost_left > 0) {
            --lost_left;
            throw Unavailable("lost", std::chrono::seconds(1), Advice::repeat);
        }
        for (const int item : items) {
            if (plan.bad.contains(item)) throw Failure("refused", Advice::split);
        }
        std::vector<std::string> results;
        for (const int item : items) {
            ++applied[item];
            results.push_back(std::to_string(item));
        }
        co_return results;
    }

    const Plan& plan;
    int lost_left;
    std::size_t running = 0;
    std::map<int, int> applied;
};

struct Outcome {
    std::string result;
    std::string failure;
};

asio::awaitable<void> ask(Batcher<int, std::string>& batcher, Call& call, int item,
                          std::map<int, Outcome>& outcomes) {
    Outcome outcome;
    try {
        outcome.result = co_await batcher.add(call, item);
    } catch (const Failure& failure) {
        outcome.failure = failure.what();
    }
    outcomes[item] = outcome;
}

std::map<int, Outcome> play(const Plan& plan, Engine& engine) {
    TestCore test;
    Batcher<int, std::string> batcher(
        test.core, plan.options,
        [&engine](Call& call, std::span<const int> items) { return engine.run(call, items); });
    std::map<int, Outcome> outcomes;
    Call call = test.call();
    TaskGroup callers(test.core.io());
    test.core.io().restart();
    for (std::size_t index = 0; index < plan.items.size(); ++index) {
        callers.spawn("ask", ask(batcher, call, plan.items[index], outcomes));
        if (index % plan.gap == 0) test.core.io().poll_one();
    }
    test.run(callers.join());
    test.run(batcher.close());
    return outcomes;
}

RC_GTEST_PROP(BatcherModel, EveryItemFaresAsIfItWereAlone, ()) {
    const Plan plan = draw_plan();
    Engine engine(plan);
    std::map<int, Outcome> outcomes = play(plan, engine);
    RC_ASSERT(outcomes.size() == plan.items.size());
    for (const int item : plan.items) {
        const bool bad = plan.bad.contains(item);
        RC_ASSERT(outcomes[item].result == (bad ? "" : std::to_string(item)));
        RC_ASSERT(outcomes[item].failure == (bad ? "refused" : ""));
        RC_ASSERT(engine.applied[item] == (bad ? 0 : 1));
    }
}

}  // namespace
}  // namespace tenon::runtime
