#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(Base64, TheVectorsOfTheStandard) {
  for (const auto& [bytes, text] : {std::pair<std::string, std::string>{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
}

TEST(Base64, WhatNobodyWouldHaveEncodedIsRefused) {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "=", "====", "Zm 9", "Zm-_",
                          "Zg=a", "Zm9v\n"})
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
}

TEST(Base64Url, HasItsOwnAlphabetAndNoPadding) {
  EXPECT_EQ(EncodeBase64Url("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(EncodeBase64Url("\xff"), "_w");
  EXPECT_EQ(EncodeBase64Url("\xff\xff"), "__8");
  EXPECT_EQ(DecodeBase64Url("-__-"), "\xfb\xff\xfe");
  EXPECT_EQ(DecodeBase64Url("_w"), "\xff");
  EXPECT_EQ(DecodeBase64Url(""), "");
}

TEST(Base64Url, WhatIsWrittenOtherwiseIsNothing) {
  for (const char* text : {"_w==", "+/+/", "_", "_x", "__9", "a b", "YQ\n", "YWJjZ", "YQ=", "a.b"})
    EXPECT_EQ(DecodeBase64Url(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tenure::base
