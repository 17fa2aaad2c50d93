#include "messages/directory.hpp"

#include <gtest/gtest.h>

#include "messages_sql/queries.hpp"
#include "store/test_store.hpp"

namespace tenure::messages {
namespace {

TEST(Directory, TopicsAreNumberedInTheOrderInWhichTheyAreSeen) {
  store::TestStore store(store::EngineKind::kSqlite, sql::All());
  const auto engine = store.NewEngine();
  Directory directory(*engine, store.clock());
  EXPECT_EQ(directory.TurnOf("default", "orders"), 0u);
  EXPECT_EQ(directory.TurnOf("default", "mails"), 1u);
  EXPECT_EQ(directory.TurnOf("other", "orders"), 2u) << "another tenant's is another topic";
  EXPECT_EQ(directory.TurnOf("default", "mails"), 1u) << "it keeps its number";
  EXPECT_EQ(directory.TurnOf("default", "bills"), 3u);
}

TEST(Directory, ATopicThatOnlyHasANumberIsNotKnown) {
  store::TestStore store(store::EngineKind::kSqlite, sql::All());
  const auto engine = store.NewEngine();
  Directory directory(*engine, store.clock());
  directory.TurnOf("default", "orders");
  EXPECT_EQ(directory.IdOf("default", "orders", 0), std::nullopt);
  EXPECT_EQ(directory.LinesOf("default", "orders").lines.size(), 2u)
      << "those of the default priority, as for any topic that is not known";
}

}  // namespace
}  // namespace tenure::messages
