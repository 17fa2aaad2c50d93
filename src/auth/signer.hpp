#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key.hpp"

namespace tenure::auth {

/// A key that signs tokens: for trying, for tests, for programs that have no issuer. Its text is a
/// private JWK (RFC 7517); what a server is given is `public_jwk`. (A secret for HS256 is the same
/// on both sides.)
///
/// One thread at a time.
class Signer {
 public:
  /// A new key, named by its thumbprint (RFC 7638).
  static Signer Generate(Algorithm algorithm);
  /// A private JWK. Throws base::UserError when it is none.
  static Signer Parse(std::string_view text);

  Algorithm algorithm() const { return algorithm_; }
  const std::string& kid() const { return kid_; }
  /// One JSON object and a line break.
  std::string private_jwk() const;
  std::string public_jwk() const;

  /// A JWS in its compact form. REQUIRES: `claims` is a JSON object.
  std::string Sign(std::string_view claims) const;

 private:
  /// One member of the JWK: its name, and what stands there (text as it is).
  struct Member {
    std::string name;
    std::string text;
    bool is_private = false;
  };

  void Describe();
  std::string Jwk(bool with_private) const;
  std::string Thumbprint() const;
  std::string Signature(std::string_view input) const;

  Algorithm algorithm_ = Algorithm::kHs256;
  std::string kid_;
  std::vector<Member> members_;    // without kid, alg and use
  std::shared_ptr<EVP_PKEY> key_;  // null: HS256
  std::string secret_;
};

}  // namespace tenure::auth
