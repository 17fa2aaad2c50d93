#include "messages/topics/topic_cache.hpp"

#include <gtest/gtest.h>

#include "messages_sql/queries.hpp"
#include "store/test_store.hpp"

namespace tenure::messages {
namespace {

TEST(TopicCache, TopicsAreNumberedInTheOrderInWhichTheyAreSeen) {
  store::TestStore store(store::EngineKind::kSqlite, sql::All());
  const auto engine = store.NewEngine();
  TopicCache topic_cache(*engine, store.clock());
  EXPECT_EQ(topic_cache.TurnOf("default", "orders"), 0u);
  EXPECT_EQ(topic_cache.TurnOf("default", "mails"), 1u);
  EXPECT_EQ(topic_cache.TurnOf("other", "orders"), 2u) << "another tenant's is another topic";
  EXPECT_EQ(topic_cache.TurnOf("default", "mails"), 1u) << "it keeps its number";
  EXPECT_EQ(topic_cache.TurnOf("default", "bills"), 3u);
}

TEST(TopicCache, ATopicThatOnlyHasANumberIsNotKnown) {
  store::TestStore store(store::EngineKind::kSqlite, sql::All());
  const auto engine = store.NewEngine();
  TopicCache topic_cache(*engine, store.clock());
  topic_cache.TurnOf("default", "orders");
  EXPECT_EQ(topic_cache.IdOf("default", "orders", 0), std::nullopt);
  EXPECT_EQ(topic_cache.LinesOf("default", "orders").lines.size(), 2u)
      << "those of the default priority, as for any topic that is not known";
}

}  // namespace
}  // namespace tenure::messages
