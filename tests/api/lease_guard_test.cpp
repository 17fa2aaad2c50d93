// tenure.check_fence by plain SQL in a user's own transaction (spec 20, Fencing that is enforced).
#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "api/sql_session.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;

class LeaseGuard : public testing::Test {
 protected:
  static std::string Check(const Lease& lease, const std::string& more = "") {
    return "select tenure.check_fence('" + lease.name() + "', " + std::to_string(lease.fence()) +
           more + ")";
  }
  static void ExpectGuarded(const HttpResponse& response) {
    EXPECT_EQ(response.status, 409) << response.body;
    EXPECT_EQ(ProblemType(response), "lease-held");
    EXPECT_EQ(response.Json()["reason"].Text(), "guarded");
  }
  void AwaitExpiry() {
    Eventually("its time is over", [&] { return lease_.Look()["state"].Text() == "free"; });
  }
  std::int64_t IdleTimeoutMs() {
    return std::stoll(database_.Execute(
        "select setting from pg_settings where name = 'idle_in_transaction_session_timeout'"));
  }

  Api api_{SharedServer(Engine::kPostgres)};
  SqlSession database_{SharedStore(Engine::kPostgres).url()};
  Lease lease_{api_};
};

TEST_F(LeaseGuard, TheLiveFencePasses) {
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "");
  EXPECT_EQ(database_.RefusalOf(Check(lease_, ", 'default'")), "");
  lease_.Renew();
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "") << "a renewal does not change it";
}

TEST_F(LeaseGuard, AnyOtherFenceRaisesTN001) {
  EXPECT_EQ(database_.RefusalOf("select tenure.check_fence('nobody/knows', 1)"), "TN001");
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(lease_, ", 'another-tenant'")), "TN001");
  EXPECT_EQ(database_.RefusalOf("select tenure.check_fence('" + lease_.name() + "', " +
                                std::to_string(lease_.fence() + 1) + ")"),
            "TN001");
  EXPECT_EQ(database_.RefusalOf("select tenure.check_fence(null, null)"), "TN001");
}

TEST_F(LeaseGuard, AReleasedABrokenAndATakenOverFenceRaiseTN001) {
  lease_.Acquire();
  const Lease old = lease_;
  lease_.Release();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "TN001") << "released";
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "TN001") << "taken over";
  lease_.Break(R"(,"force":true)");
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "TN001") << "broken";
}

TEST_F(LeaseGuard, AnExpiredFenceRaisesTN001AlsoWhileNobodyElseTookIt) {
  lease_.Acquire({.ttl_ms = 100});
  AwaitExpiry();
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "TN001");
}

TEST_F(LeaseGuard, ASnapshotFromBeforeATakeoverIsRefusedAndOneFromBeforeARenewalPasses) {
  lease_.Acquire();
  const Lease old = lease_;
  database_.Execute("begin isolation level repeatable read");
  database_.Execute("select count(*) from tenure.leases");  // the snapshot is taken
  lease_.Renew();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "");
  database_.Execute("rollback");
  database_.Execute("begin isolation level repeatable read");
  database_.Execute("select count(*) from tenure.leases");
  lease_.Release();
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "40001") << "it cannot be serialized after that";
  database_.Execute("rollback");
}

TEST_F(LeaseGuard, ARenewalDoesNotWaitForAnOpenGuard) {
  lease_.Acquire();
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lease_.Renew().status, 200);
  database_.Execute("commit");
}

TEST_F(LeaseGuard, ATakeoverIsHeldOffUntilTheGuardsTransactionEnds) {
  lease_.Acquire({.ttl_ms = 1'000});
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  // It works on: only who stands idle is ended.
  database_.Execute("set local idle_in_transaction_session_timeout = 0");
  AwaitExpiry();
  ExpectGuarded(Lease(lease_).Acquire());
  WaitingAcquire waiting(api_, lease_, {.holder = "next", .wait_ms = 60'000});
  AwaitLine(lease_, 1);
  database_.Execute("commit");
  EXPECT_EQ(waiting.Answer().Json()["holder"].Text(), "next");
}

TEST_F(LeaseGuard, ABreakIsHeldOffToo) {
  lease_.Acquire();
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  ExpectGuarded(lease_.Break());
  ExpectGuarded(lease_.Break(R"(,"force":true)"));
  const support::HttpHeaders once{{"Idempotency-Key", NewUuid()}};
  ExpectGuarded(lease_.Break(R"(,"force":true)", once));
  EXPECT_EQ(lease_.Renew().status, 200) << "nothing of it happened";
  database_.Execute("rollback");
  EXPECT_TRUE(lease_.Break(R"(,"force":true)", once).Json()["broken"].Bool())
      << "a refusal that passes is not kept under the key";
}

TEST_F(LeaseGuard, AGuardMayStandIdleNoLongerThanItsGrantLasts) {
  lease_.Acquire({.ttl_ms = 60'000});
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  EXPECT_GT(IdleTimeoutMs(), 0);
  EXPECT_LE(IdleTimeoutMs(), 60'000);
  database_.Execute("commit");
  EXPECT_EQ(IdleTimeoutMs(), 0) << "for this transaction only";

  database_.Execute("set idle_in_transaction_session_timeout = 7000");
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  EXPECT_EQ(IdleTimeoutMs(), 7'000) << "a stricter one stays";
  database_.Execute("commit");
}

TEST_F(LeaseGuard, AForgottenGuardEndsByItself) {
  lease_.Acquire({.ttl_ms = 500});
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  Eventually("somebody else gets it", [&] { return Lease(lease_).Acquire().status == 200; });
  EXPECT_THROW(database_.Execute("select 1"), std::runtime_error);
}

TEST_F(LeaseGuard, OnlyTheRoleForApplicationsMayAskAndItSeesNothingElse) {
  EXPECT_EQ(
      database_.Execute("select count(*) from pg_proc p cross join lateral aclexplode(p.proacl) a"
                        " where p.oid = 'tenure.check_fence(text, bigint, text)'::regprocedure and "
                        "a.grantee = 0"),
      "0")
      << "not PUBLIC";
  lease_.Acquire();
  database_.Execute("set role tenure_app");
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "");
  EXPECT_EQ(database_.RefusalOf("select count(*) from tenure.leases"), "42501");
}

}  // namespace
}  // namespace tenure::api
