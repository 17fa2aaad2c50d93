#include "push/vault.hpp"

#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "push/subscription.hpp"
#include "support/temp_dir.hpp"

namespace tenure::push {
namespace {

std::string KeyLine(const std::string& id, char fill) {
  return id + ":" + base::EncodeBase64(std::string(32, fill)) + "\n";
}

TEST(PushVault, OpensWhatItSealedWhereItBelongs) {
  const Vault vault = Vault::Parse(KeyLine("a", 'a'));
  const std::string sealed = vault.Seal("secret", "row 1");
  EXPECT_THAT(sealed, testing::StartsWith("a:"));
  EXPECT_THAT(sealed, testing::Not(testing::HasSubstr("secret")));
  EXPECT_NE(sealed, vault.Seal("secret", "row 1"));
  EXPECT_EQ(vault.Open(sealed, "row 1"), "secret");
  EXPECT_EQ(vault.Open(sealed, "row 2"), std::nullopt) << "copied into another row";
  EXPECT_EQ(vault.Open(vault.Seal("", "x"), "x"), "");
  for (std::size_t at = 2; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(vault.Open(changed, "row 1"), std::nullopt) << at;
  }
  for (const char* bad : {"", "a", "a:", "a:AAAA", "b:AAAA", ":", "a:*"})
    EXPECT_EQ(vault.Open(bad, "row 1"), std::nullopt) << bad;
}

TEST(PushVault, KeysAreChangedByPuttingANewOneOnTop) {
  const std::string sealed = Vault::Parse(KeyLine("old", 'o')).Seal("secret", "row");
  const Vault both =
      Vault::Parse("# the new one\n" + KeyLine("new", 'n') + "\n" + KeyLine("old", 'o'));
  EXPECT_EQ(both.Open(sealed, "row"), "secret");
  EXPECT_FALSE(both.IsCurrent(sealed));
  EXPECT_TRUE(both.IsCurrent(both.Seal("secret", "row")));
  EXPECT_EQ(Vault::Parse(KeyLine("new", 'n')).Open(sealed, "row"), std::nullopt);
}

TEST(PushVault, RefusesAFileThatIsNoListOfKeysWithoutQuotingIt) {
  const std::string key = base::EncodeBase64(std::string(32, 'k'));
  for (const std::string& bad :
       {std::string(), std::string("# only\n"), key, "a b:" + key, ":" + key, "a:" + key.substr(4),
        "a:" + key + "=", KeyLine("a", 'a') + KeyLine("a", 'b')}) {
    try {
      Vault::Parse(bad);
      ADD_FAILURE() << bad;
    } catch (const base::UserError& error) {
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr(key.substr(0, 8))));
    }
  }
}

TEST(PushVault, OthersMustNotBeAbleToReadTheFile) {
  const support::TempDir folder;
  const std::string path = folder / "keys";
  std::ofstream(path) << KeyLine("a", 'a');
  ::chmod(path.c_str(), 0640);
  EXPECT_THROW(Vault::Load(path), base::UserError);
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(Vault::Load(path).Open(Vault::Parse(KeyLine("a", 'a')).Seal("x", "y"), "y"), "x");
}

TEST(PushVault, ASecretThatWasRotatedOutSignsUntilItsTimeIsOver) {
  const Vault vault = Vault::Parse(KeyLine("a", 'a'));
  const base::Uuid id = base::Uuid::V7(1);
  const std::string sealed = SealSecrets(vault, id, {{"new", 0}, {"old", 1'000}});
  EXPECT_EQ(OpenSecrets(vault, id, sealed, 999).size(), 2u);
  EXPECT_EQ(OpenSecrets(vault, id, sealed, 1'000).size(), 1u);
  EXPECT_TRUE(OpenSecrets(vault, base::Uuid::V7(2), sealed, 0).empty());
  const HeaderValues headers{{"Authorization", "Bearer a:b"}, {"X", "y"}};
  EXPECT_EQ(OpenHeaders(vault, id, SealHeaders(vault, id, headers)), headers);
  EXPECT_EQ(SealHeaders(vault, id, {}), "");
}

}  // namespace
}  // namespace tenure::push
