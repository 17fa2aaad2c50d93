// Values go into a store and come back the same, on every store.

#include <limits>

#include <gtest/gtest.h>

#include "db/transaction.hpp"
#include "store/test_store.hpp"

namespace tenure::db {
namespace {

using store::EngineKind;

const Query kEcho{"test.echo",
                  "select ordinal, number, text, id, $4::bigint, $5::text, $6::bigint, $7::uuid "
                  "from unnest($1::bigint[], $2::text[], $3::uuid[]) with ordinality "
                  "as item (number, text, id, ordinal)",
                  "select ?1, ?2, ?3, ?4, ?5, ?6, ?7"};
const Query* const kValueQueries[] = {&kEcho};

class ValueTest : public testing::TestWithParam<EngineKind> {
 protected:
  ValueTest() : store_(GetParam(), kValueQueries), process_(store_.NewProcess()) {}
  store::TestStore store_;
  std::unique_ptr<Store> process_;
};

TEST_P(ValueTest, EveryTypeComesBackTheSameForAThousandItems) {
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  std::vector<base::Uuid> ids;
  for (int i = 0; i < 1'000; ++i) {
    numbers.push_back(i % 3 == 0   ? std::numeric_limits<std::int64_t>::min() + i
                      : i % 3 == 1 ? std::numeric_limits<std::int64_t>::max() - i
                                   : -i);
    texts.push_back(i % 2 == 0 ? "" : "gr\xC3\xBC\xC3\x9F \"'\\ " + std::to_string(i));
    ids.push_back(base::Uuid::V7(i));
  }
  Transaction tx(process_->WriteLane(0).connection(), Access::kWrite);
  const Rows rows = tx.Run(kEcho, numbers, texts, ids, std::int64_t{7}, std::string_view("one"),
                           std::optional<std::int64_t>(), std::optional<base::Uuid>(ids[5]));
  tx.Commit();
  ASSERT_EQ(rows.size(), 1'000u);
  for (const auto row : rows) {
    const auto i = row.ordinal();
    EXPECT_EQ(row.Int(0), numbers[i]);
    EXPECT_EQ(row.Text(1), texts[i]);
    EXPECT_EQ(row.Uuid(2), ids[i]);
    EXPECT_EQ(row.Int(3), 7);
    EXPECT_EQ(row.Text(4), "one");
    EXPECT_TRUE(row.IsNull(5));
    EXPECT_EQ(row.Uuid(6), ids[5]);
  }
}

TEST_P(ValueTest, RowsAreWrittenAndReadByTheirMembers) {
  enum class Colour : std::uint8_t { kRed = 7 };
  struct Name {
    std::string text{};
  };
  struct Row {
    Colour colour = Colour::kRed;
    Name name{};
    std::optional<base::Uuid> id{};
    const Name& NameOf() const { return name; }
  };
  const std::vector<Row> rows{{Colour::kRed, {"first"}, base::Uuid::V7(1)},
                              {static_cast<Colour>(8), {"second"}, {}}};
  Transaction tx(process_->WriteLane(0).connection(), Access::kWrite);
  const Rows found =
      tx.Run(kEcho, Columns(rows, &Row::colour, Inside(&Row::NameOf, &Name::text), &Row::id),
             std::int64_t{7}, std::string_view("one"), std::optional<std::int64_t>(),
             std::optional<base::Uuid>());
  tx.Commit();
  ASSERT_EQ(found.size(), 2u);
  for (const auto row : found) {
    const Row& written = rows[row.ordinal()];
    const auto read = ReadAs<Row>(row, &Row::colour, Inside(&Row::name, &Name::text), &Row::id);
    EXPECT_EQ(read.colour, written.colour);
    EXPECT_EQ(read.name.text, written.name.text);
    EXPECT_EQ(read.id, written.id.value_or(base::Uuid())) << "none is the nil id in a column";
    Row untouched{Colour::kRed, {"as it was"}, base::Uuid::V7(2)};
    ReadInto(untouched, row, 5, Inside(&Row::name, &Name::text), &Row::id);
    EXPECT_EQ(untouched.name.text, "as it was") << "NULL has no text";
    EXPECT_EQ(untouched.id, std::nullopt);
  }
}

TEST_P(ValueTest, WithoutItemsNothingIsRun) {
  Transaction tx(process_->WriteLane(0).connection(), Access::kRead);
  const Rows rows = tx.Run(kEcho, std::vector<std::int64_t>(), std::vector<std::string>(),
                           std::vector<base::Uuid>(), std::int64_t{7}, std::string_view("one"),
                           std::optional<std::int64_t>(), std::optional<base::Uuid>());
  EXPECT_TRUE(rows.empty());
  EXPECT_EQ(store_.Executions("test.echo"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, ValueTest,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

}  // namespace
}  // namespace tenure::db
