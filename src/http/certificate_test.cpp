// Certificates and keys in files: what is taken, what is refused in which words, and what changes
// while the server runs.

#include "http/certificate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/temp_dir.hpp"
#include "support/tls.hpp"

namespace tenure::http {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Keeper : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    support::ReplaceFile(path, text);
    return path;
  }
  CertificateFiles Write(const support::Certificate& made) const {
    return {.certificate = Write("certificate.pem", made.certificate),
            .key = Write("key.pem", made.key)};
  }
  /// The serial number of what a new connection would get.
  static std::int64_t Serial(const CertificateKeeper& keeper) {
    const TlsSession session = keeper.NewSession(0);  // nothing is read or written
    return ASN1_INTEGER_get(X509_get0_serialNumber(SSL_get_certificate(session.get())));
  }
  /// What is said about files that cannot be used.
  std::string Complaint(const CertificateFiles& files) {
    try {
      const CertificateKeeper keeper(files, clock_, metrics_);
      return "they were taken";
    } catch (const base::UserError& error) {
      return error.what();
    }
  }
  std::int64_t EndMetric() {
    return metrics_.GetGauge("tenure_tls_certificate_end_timestamp_seconds", "").value();
  }

  const support::TempDir folder_;
  support::Authority authority_;
  base::ManualClock clock_{base::SystemClock().WallMs()};
  telemetry::Registry metrics_;
};

TEST_F(Keeper, AFileThatChangesIsReadWithinItsInterval) {
  CertificateKeeper keeper(Write(authority_.Issue()), clock_, metrics_);
  const std::int64_t first = authority_.last_serial();
  EXPECT_EQ(Serial(keeper), first);
  Write(authority_.Issue({.ends_in_s = 7'200}));
  keeper.Step();
  EXPECT_EQ(Serial(keeper), first) << "not yet";
  clock_.Advance(CertificateKeeper::kFilesMs);
  keeper.Step();
  EXPECT_EQ(Serial(keeper), first + 1);
  EXPECT_NEAR(static_cast<double>(EndMetric()),
              static_cast<double>(base::SystemClock().WallMs()) / 1'000 + 7'200, 60);
}

TEST_F(Keeper, WhatCannotBeUsedChangesNothingAndIsTakenOnceItCan) {
  const support::Certificate good = authority_.Issue();
  CertificateKeeper keeper(Write(good), clock_, metrics_);
  const std::int64_t served = Serial(keeper);
  const std::int64_t ends = EndMetric();
  const support::Certificate next = authority_.Issue();
  const support::Certificate ended = authority_.Issue({.ends_in_s = -1});
  const auto look = [&] {
    clock_.Advance(CertificateKeeper::kFilesMs);
    keeper.Step();
  };
  for (const support::Certificate& bad : std::initializer_list<support::Certificate>{
           {"", good.key},
           {good.certificate, ""},
           {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", good.key},
           {good.certificate.substr(0, good.certificate.size() / 2), good.key},
           {next.certificate, good.key},
           {good.certificate, next.key},
           ended}) {
    Write(bad);
    for (int i = 0; i < 2; ++i) look();
    EXPECT_EQ(Serial(keeper), served) << bad.certificate << bad.key;
    EXPECT_EQ(EndMetric(), ends);
  }
  std::filesystem::remove(folder_ / "key.pem");
  look();
  EXPECT_EQ(Serial(keeper), served);
  Write(next);
  look();
  EXPECT_EQ(Serial(keeper), served + 1);
}

TEST_F(Keeper, AReloadUsesOtherFilesAtOnceAndFromThenOn) {
  CertificateKeeper keeper(Write(authority_.Issue()), clock_, metrics_);
  const support::Certificate next = authority_.Issue();
  const std::string both = folder_ / "both.pem";
  keeper.Use({.certificate = both, .key = both});
  keeper.Step();
  EXPECT_EQ(Serial(keeper), authority_.last_serial() - 1) << "there is no such file";
  Write("both.pem", next.key + next.certificate + authority_.pem());
  clock_.Advance(CertificateKeeper::kFilesMs);
  keeper.Step();
  EXPECT_EQ(Serial(keeper), authority_.last_serial());
}

TEST_F(Keeper, ASessionKeepsTheCertificateThatItBeganWith) {
  CertificateKeeper keeper(Write(authority_.Issue()), clock_, metrics_);
  const TlsSession before = keeper.NewSession(0);
  Write(authority_.Issue());
  clock_.Advance(CertificateKeeper::kFilesMs);
  keeper.Step();
  const auto serial = [](const TlsSession& session) {
    return ASN1_INTEGER_get(X509_get0_serialNumber(SSL_get_certificate(session.get())));
  };
  EXPECT_EQ(serial(before) + 1, serial(keeper.NewSession(0)));
}

TEST_F(Keeper, ItsOwnThreadReadsWhatAReloadNames) {
  CertificateKeeper keeper(Write(authority_.Issue()), clock_, metrics_);
  keeper.Start();
  for (int i = 0; i < 3; ++i) {
    keeper.Use(Write(authority_.Issue()));
    while (Serial(keeper) != authority_.last_serial()) std::this_thread::yield();
  }
  keeper.Stop();
}

TEST_F(Keeper, ACertificateThatHasEndedIsServedFromTheStart) {
  const CertificateKeeper keeper(Write(authority_.Issue({.ends_in_s = -1})), clock_, metrics_);
  EXPECT_EQ(Serial(keeper), authority_.last_serial());
}

TEST_F(Keeper, WrongFilesAtTheStartAreErrorsThatNameThem) {
  const support::Certificate good = authority_.Issue();
  const support::Certificate other = authority_.Issue();
  const CertificateFiles files = Write(good);
  const std::string nowhere = folder_ / "nowhere.pem";
  EXPECT_THAT(Complaint({.certificate = nowhere, .key = files.key}),
              AllOf(HasSubstr("tls.certificate"), HasSubstr(nowhere), HasSubstr("cannot be read")));
  EXPECT_THAT(Complaint({.certificate = files.certificate, .key = nowhere}),
              AllOf(HasSubstr("tls.key"), HasSubstr(nowhere), HasSubstr("cannot be read")));
  EXPECT_THAT(Complaint({.certificate = files.key, .key = files.key}),
              AllOf(HasSubstr(files.key), HasSubstr("holds none")));
  EXPECT_THAT(Complaint({.certificate = files.certificate, .key = files.certificate}),
              AllOf(HasSubstr(files.certificate), HasSubstr("holds no key")));
  EXPECT_THAT(Complaint({.certificate = files.certificate, .key = Write("other", other.key)}),
              HasSubstr("is not the key of the certificate in " + files.certificate));
  const std::string half = good.certificate.substr(0, good.certificate.size() / 2);
  EXPECT_THAT(Complaint({.certificate = Write("half", good.certificate + half), .key = files.key}),
              HasSubstr("is damaged"));
  EXPECT_THAT(
      Complaint({.certificate = Write("large", std::string(300'000, ' ')), .key = files.key}),
      HasSubstr("is larger than 256KiB"));
}

TEST_F(Keeper, AKeyWithAPassphraseIsRefusedWithoutAskingForIt) {
  const support::Certificate good = authority_.Issue();
  const CertificateFiles files = Write(good);
  const std::string sealed =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
      "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjVHuFvGnCJ2wICCAAw\n"
      "-----END ENCRYPTED PRIVATE KEY-----\n";
  EXPECT_THAT(Complaint({.certificate = files.certificate, .key = Write("sealed", sealed)}),
              HasSubstr("without a passphrase"));
}

TEST_F(Keeper, AKeyThatIsTooWeakIsRefused) {
  EXPECT_THAT(Complaint(Write(authority_.Issue({.rsa_bits = 1'024}))), HasSubstr("weak"));
  EXPECT_EQ(Complaint(Write(authority_.Issue({.rsa_bits = 2'048}))), "they were taken");
}

}  // namespace
}  // namespace tenure::http
