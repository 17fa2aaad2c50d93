#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "messages_sql/queries.hpp"
#include "queues/test_process.hpp"

namespace tenure::queues {

/// Those of the kernel are run here, too: it tells of what others commit.
inline std::vector<const db::Query*> AllQueries() {
  std::vector<const db::Query*> all(sql::All().begin(), sql::All().end());
  all.insert(all.end(), messages::sql::All().begin(), messages::sql::All().end());
  return all;
}

/// One process on a store, once for every kind of store. After each test the counters must be what
/// a recount says (Q3 stands on them).
class QueuesContract : public testing::TestWithParam<store::EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }
  void TearDown() override { ExpectCountersToBeRight(); }

  void ExpectCountersToBeRight() {
    const auto sum = [&](const std::string& counter, const std::string& recount) {
      const auto of = [&](const std::string& schema) {
        return "select (select coalesce(sum(" + counter + "), 0) from " + schema +
               "queue_counters) - (select coalesce(sum(" + recount + "), 0) from " + schema +
               "queue_sessions)";
      };
      EXPECT_EQ(store_.Number(of(""), of("tenure.")), 0) << counter;
    };
    sum("messages", "next - head");
    sum("ready", "case state when 1 then 1 else 0 end");
    sum("held", "case state when 2 then 1 else 0 end");
    sum("parked", "case state when 3 then 1 else 0 end");
    const auto bytes = [](const std::string& schema) {
      return "select (select coalesce(sum(bytes), 0) from " + schema +
             "queue_counters) - (select coalesce(sum(m.bytes), 0) from " + schema +
             "queue_messages m join " + schema +
             "queue_sessions s on s.session_id = m.session_id where m.sequence >= s.head)";
    };
    EXPECT_EQ(store_.Number(bytes(""), bytes("tenure.")), 0) << "bytes";
  }

  store::TestStore store_{GetParam(), AllQueries()};
  TestProcess a_{store_};
};

}  // namespace tenure::queues
