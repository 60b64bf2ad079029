// Keys over a real database: how they are found, end and follow each other.
#include "access/keys.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "access/errors.hpp"
#include "access/key_text.hpp"
#include "storage/test_store.hpp"

namespace tenon::access {

std::span<const storage::Migration> migrations();

namespace {

using namespace std::chrono_literals;

std::vector<storage::Migration> files() {
    std::vector<storage::Migration> all{storage::migrations().begin(), storage::migrations().end()};
    all.insert(all.end(), migrations().begin(), migrations().end());
    return all;
}

class Known : public testing::Test {
protected:
    ~Known() override {
        house_.host.run(keys_.close());
        house_.host.run(elsewhere_.close());
    }

    Project project(const std::string& name = "shop") {
        auto call = house_.host.call();
        return house_.host.run(
            store_.ensure_project(call, {.id = base::make_uuid_v4(house_.host.core.random()),
                                         .name = name,
                                         .space = 0,
                                         .created_at = call.now}));
    }
    MadeKey make(const std::vector<std::string>& scopes = {"links:read"}) {
        auto call = house_.host.call();
        auto made = house_.host.run(keys_.make(call, project().id, "backend", scopes));
        if (!made) throw std::runtime_error(made.error().detail());
        return std::move(*made);
    }
    base::Result<http::Identity> identify(Keys& keys, std::string_view text) {
        auto call = house_.host.call();
        return house_.host.run(keys.identify(call, text));
    }
    base::Result<MadeKey> rotate(base::Uuid id, std::chrono::microseconds overlap) {
        auto call = house_.host.call();
        return house_.host.run(keys_.rotate(call, id, overlap));
    }
    base::Result<Key> revoke(base::Uuid id) {
        auto call = house_.host.call();
        return house_.host.run(keys_.revoke(call, id));
    }
    void flush_uses() {
        auto call = house_.host.call();
        house_.host.run(keys_.flush_uses(call));
    }

    storage::TestStore house_{files()};
    Store store_{*house_.database};
    KeyCache cache_{{.bytes_max = 1 << 20, .seed = std::nullopt}};
    KeyCache far_cache_{{.bytes_max = 1 << 20, .seed = std::nullopt}};
    Keys keys_{house_.host.core, *house_.database, cache_};
    Keys elsewhere_{house_.host.core, *house_.database, far_cache_};  ///< another process
};

TEST_F(Known, AMadeKeyTellsItsProjectAndRights) {
    const auto made = make({"links:read", "links:write"});
    const auto identity = identify(keys_, made.text);
    ASSERT_TRUE(identity.has_value());
    EXPECT_EQ(identity->project, project().id);
    EXPECT_EQ(identity->key, made.key.id);
    EXPECT_TRUE(identity->may("links:write"));
    EXPECT_FALSE(identity->may("ledger:read"));
}

TEST_F(Known, OnlyADigestIsStored) {
    const auto made = make();
    EXPECT_EQ(house_.value("SELECT count(*) FROM access.api_keys AS k WHERE k::text LIKE '%" +
                           made.text.substr(4) + "%'"),
              "0");
    EXPECT_EQ(house_.value("SELECT digest = sha256('" + made.text + "') FROM access.api_keys"),
              "t");
}

TEST_F(Known, AnUnknownKeyIsAskedForOnceAndAMalformedOneNever) {
    base::SeededRandom random(1);
    const auto stranger = make_key_text(random);
    EXPECT_TRUE(identify(keys_, stranger).error().is(errors::unknown_key));
    const auto before = cache_.stats();
    EXPECT_TRUE(identify(keys_, stranger).error().is(errors::unknown_key));
    EXPECT_EQ(cache_.stats().negative_hits, before.negative_hits + 1);
    EXPECT_TRUE(identify(keys_, "tnk_" + std::string(49, '0')).error().is(errors::malformed_key));
    EXPECT_EQ(cache_.stats().entries, before.entries);
}

TEST_F(Known, AHitAsksNobody) {
    const auto made = make();
    ASSERT_TRUE(identify(keys_, made.text).has_value());
    house_.script("DELETE FROM access.api_keys");
    EXPECT_TRUE(identify(keys_, made.text).has_value());
    EXPECT_TRUE(identify(elsewhere_, made.text).error().is(errors::unknown_key));
}

TEST_F(Known, ARevokedKeyEndsHereAtOnceAndStaysEnded) {
    const auto made = make();
    ASSERT_TRUE(identify(keys_, made.text).has_value());
    const auto revoked = revoke(made.key.id);
    ASSERT_TRUE(revoked.has_value());
    EXPECT_TRUE(identify(keys_, made.text).error().is(errors::revoked_key));
    house_.host.clock.advance(1h);
    EXPECT_EQ(revoke(made.key.id)->revoked_at, revoked->revoked_at);
    EXPECT_TRUE(revoke(base::Uuid{{9}}).error().is(errors::no_such_key));
}

TEST_F(Known, ARotatedKeyGoesOnForItsOverlap) {
    const auto old = make({"links:write"});
    ASSERT_TRUE(identify(keys_, old.text).has_value());
    const auto made = rotate(old.key.id, 1h);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->key.scopes, old.key.scopes);
    EXPECT_TRUE(identify(keys_, old.text).has_value());
    EXPECT_TRUE(identify(keys_, made->text).has_value());
    house_.host.clock.advance(1h);
    EXPECT_TRUE(identify(keys_, old.text).error().is(errors::expired_key));
    EXPECT_TRUE(identify(keys_, made->text).has_value());
}

TEST_F(Known, ARotationNeverProlongsAndNeedsALivingKey) {
    const auto old = make();
    ASSERT_TRUE(rotate(old.key.id, 1h).has_value());
    ASSERT_TRUE(rotate(old.key.id, 9h).has_value());
    house_.host.clock.advance(1h);
    EXPECT_TRUE(identify(keys_, old.text).error().is(errors::expired_key));
    EXPECT_TRUE(rotate(old.key.id, 1h).error().is(errors::expired_key));
    const auto revoked = make();
    ASSERT_TRUE(revoke(revoked.key.id).has_value());
    EXPECT_TRUE(rotate(revoked.key.id, 1h).error().is(errors::revoked_key));
    EXPECT_TRUE(rotate(base::Uuid{{9}}, 1h).error().is(errors::no_such_key));
    EXPECT_EQ(house_.value("SELECT count(*) FROM access.api_keys"), "4");
}

TEST_F(Known, AKeyNeedsAProjectANameAndScopes) {
    auto call = house_.host.call();
    const auto refusal = [&](base::Uuid owner, const std::string& name,
                             const std::vector<std::string>& scopes) {
        return house_.host.run(keys_.make(call, owner, name, scopes)).error();
    };
    EXPECT_TRUE(refusal(base::Uuid{{9}}, "a", {"*"}).is(errors::no_such_project));
    EXPECT_TRUE(refusal(project().id, "", {"*"}).is(errors::invalid_name));
    EXPECT_TRUE(refusal(project().id, std::string("a\0b", 3), {"*"}).is(errors::invalid_name));
    EXPECT_TRUE(refusal(project().id, "a", {}).is(errors::invalid_scope));
}

TEST_F(Known, UsesAreNotedOnceAMinute) {
    const auto made = make();
    const auto noted = [&] {
        return house_.value(
            "SELECT extract(epoch FROM last_used_at - created_at)::integer "
            "FROM access.api_keys");
    };
    ASSERT_TRUE(identify(keys_, made.text).has_value());
    flush_uses();
    EXPECT_EQ(noted(), "0");
    house_.host.clock.advance(59s);
    ASSERT_TRUE(identify(keys_, made.text).has_value());
    flush_uses();
    EXPECT_EQ(noted(), "0");
    house_.host.clock.advance(1s);
    ASSERT_TRUE(identify(keys_, made.text).has_value());
    flush_uses();
    EXPECT_EQ(noted(), "60");
}

TEST_F(Known, KeysAreListedOldestFirst) {
    const auto first = make();
    house_.host.clock.advance(1s);
    const auto second = make();
    auto call = house_.host.call();
    const auto listed = house_.host.run(keys_.list(call, project().id));
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[0].id, first.key.id);
    EXPECT_EQ(listed[1].id, second.key.id);
    EXPECT_TRUE(house_.host.run(keys_.list(call, project("other").id)).empty());
}

TEST_F(Known, AProjectIsMadeOnce) {
    EXPECT_EQ(project().id, project().id);
    EXPECT_NE(project().id, project("other").id);
}

TEST_F(Known, EachSpaceHasOneSharedDomainAndEachHostOneOwner) {
    auto call = house_.host.call();
    const auto insert = [&](const std::string& host, std::int32_t space,
                            std::optional<base::Uuid> owner) {
        return house_.host.run(
            store_.insert_domain(call, {.id = base::make_uuid_v4(house_.host.core.random()),
                                        .host = host,
                                        .space = space,
                                        .project = owner,
                                        .created_at = call.now}));
    };
    EXPECT_TRUE(insert("", 0, std::nullopt));
    EXPECT_FALSE(insert("", 0, std::nullopt));
    EXPECT_TRUE(insert("", 1, std::nullopt));
    EXPECT_TRUE(insert("go.example", 0, project().id));
    EXPECT_FALSE(insert("go.example", 1, project("other").id));
    EXPECT_EQ(house_.host.run(store_.list_domains(call)).size(), 3U);
}

}  // namespace
}  // namespace tenon::access
