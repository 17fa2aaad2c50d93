#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, WellFormedTextIsStorable) {
  for (const auto text : {""sv, "plain"sv, "gr\xC3\xBC\xC3\x9F"sv, "\xE2\x82\xAC"sv,
                          "\xF0\x9F\x98\x80"sv, "\xF4\x8F\xBF\xBF"sv, "\xED\x9F\xBF"sv})
    EXPECT_TRUE(IsStorableText(text)) << text;
}

TEST(Utf8, ZeroOverlongSurrogatesAndCutSequencesAreNot) {
  for (const auto text :
       {"a\0b"sv, "\x80"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xED\xA0\x80"sv,
        "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xE2\x82"sv, "\xFF"sv})
    EXPECT_FALSE(IsStorableText(text));
}

}  // namespace
}  // namespace tenure::base
