#include "push/vault.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "base/read_file.hpp"
#include "base/uuid.hpp"

namespace tenure::push {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 64 << 10;
constexpr std::size_t kMaxKeys = 100;
constexpr std::size_t kMaxKeyIdBytes = 40;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

struct CipherDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, CipherDeleter>;

const unsigned char* In(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Out(std::string& text, std::size_t at = 0) {
  return reinterpret_cast<unsigned char*>(text.data() + at);
}

bool IsKeyId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxKeyIdBytes &&
         id.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string_view::npos;
}

}  // namespace

Vault Vault::Parse(std::string_view text) {
  Vault vault;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    std::string_view entry = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (entry.ends_with('\r')) entry.remove_suffix(1);
    if (entry.empty() || entry.starts_with('#')) continue;
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos || !IsKeyId(entry.substr(0, colon)))
      throw base::UserError(fmt::format(
          "line {} is not \"id:base64 of 32 bytes\" with an id of 1 to {} of A-Z a-z 0-9 . _ -",
          line, kMaxKeyIdBytes));
    Key key{.id = std::string(entry.substr(0, colon))};
    const auto bytes = base::DecodeBase64(entry.substr(colon + 1));
    if (!bytes || bytes->size() != key.bytes.size())
      throw base::UserError(fmt::format("the key of line {} is not base64 of 32 bytes", line));
    std::ranges::copy(*bytes, key.bytes.begin());
    if (std::ranges::any_of(vault.keys_, [&](const Key& other) { return other.id == key.id; }))
      throw base::UserError(fmt::format("line {} has the id of a line above it", line));
    if (vault.keys_.size() == kMaxKeys)
      throw base::UserError(fmt::format("there are more than {} keys", kMaxKeys));
    vault.keys_.push_back(std::move(key));
  }
  if (vault.keys_.empty()) throw base::UserError("there is no key in it");
  return vault;
}

Vault Vault::Load(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw base::UserError("others than its owner may read or write it; `chmod 600` it");
  return Parse(base::ReadWholeFile(path, kMaxKeyFileBytes));
}

std::string Vault::Seal(std::string_view secret, std::string_view context) const {
  const Key& key = keys_.front();
  std::string sealed(kNonceBytes + secret.size() + kTagBytes, '\0');
  base::RandomBytes(Out(sealed), kNonceBytes);
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  const bool done =
      cipher &&
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(), Out(sealed)) ==
          1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &rest, In(context),
                        static_cast<int>(context.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), Out(sealed, kNonceBytes), &size, In(secret),
                        static_cast<int>(secret.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), Out(sealed, kNonceBytes + secret.size()), &rest) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                          Out(sealed, kNonceBytes + secret.size())) == 1;
  TENURE_CHECK(done, "OpenSSL cannot encrypt");
  return key.id + ":" + base::EncodeBase64(sealed);
}

std::optional<std::string> Vault::Open(std::string_view sealed, std::string_view context) const {
  const std::size_t colon = sealed.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto key = std::ranges::find(keys_, sealed.substr(0, colon), &Key::id);
  if (key == keys_.end()) return std::nullopt;
  auto bytes = base::DecodeBase64(sealed.substr(colon + 1));
  if (!bytes || bytes->size() < kNonceBytes + kTagBytes) return std::nullopt;
  const std::size_t length = bytes->size() - kNonceBytes - kTagBytes;
  std::string secret(length, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done = cipher &&
                    EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key->bytes.data(),
                                       Out(*bytes)) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), nullptr, &size, In(context),
                                      static_cast<int>(context.size())) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), Out(secret), &size, Out(*bytes, kNonceBytes),
                                      static_cast<int>(length)) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes,
                                        Out(*bytes, kNonceBytes + length)) == 1 &&
                    EVP_DecryptFinal_ex(cipher.get(), Out(secret, length), &size) == 1;
  if (!done) return std::nullopt;
  return secret;
}

bool Vault::IsCurrent(std::string_view sealed) const {
  return sealed.substr(0, sealed.find(':')) == keys_.front().id;
}

}  // namespace tenure::push
