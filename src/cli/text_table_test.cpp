#include "cli/text_table.hpp"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

TEST(TextTable, AlignsItsColumnsByCharacters) {
  TextTable table({{"NAME"}, {"CITY"}, {"N"}});
  table.Add({"a", "Zürich", "1"});
  table.Add({"longer", "Bonn", "20"});
  EXPECT_EQ(table.Text(),
            "NAME    CITY    N\n"
            "a       Zürich  1\n"
            "longer  Bonn    20\n");
}

TEST(TextTable, MakesItsCellsPrintable) {
  TextTable table({{"A"}, {"B"}});
  table.Add({"x\x1b[1m", "y\nz"});
  EXPECT_EQ(table.Text(TextTable::Heading::kLeaveOut), "x?[1m  y?z\n");
}

TEST(TextTable, LaterPagesLookLikeTheFirst) {
  TextTable table({{"A", 6}, {"B"}});
  table.Add({"x", "y"});
  EXPECT_EQ(table.Text(TextTable::Heading::kLeaveOut), "x       y\n");
}

}  // namespace
}  // namespace tenure::cli
