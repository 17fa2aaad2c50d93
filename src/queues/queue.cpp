#include "queues/queue.hpp"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include "base/error.hpp"

namespace tenure::queues {
namespace {

constexpr std::size_t kMaxClassBytes = 200;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordPart(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}
bool IsHexPart(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
}

/// A number, an id, or something that has one in it: "#", "request-#".
void AppendFolded(std::string_view word, std::string& out) {
  const bool has_digit = std::any_of(word.begin(), word.end(), IsDigit);
  const bool is_address = word.size() > 2 && word.starts_with("0x");
  if (is_address) word.remove_prefix(2);
  if (is_address || (has_digit && word.size() >= 6)) {
    if (std::all_of(word.begin(), word.end(), IsHexPart)) {
      out += '#';
      return;
    }
  }
  bool in_number = false;
  for (const char c : word) {
    if (!IsDigit(c))
      out += c;
    else if (!in_number)
      out += '#';
    in_number = IsDigit(c);
  }
}

}  // namespace

std::string_view ToText(Scope scope) {
  switch (scope) {
    case Scope::kNone:
      return "none";
    case Scope::kEntity:
      return "entity";
    case Scope::kRepository:
      return "repository";
    case Scope::kCustom:
      return "custom";
  }
  return "none";
}

std::string_view ToText(DeadLetterPolicy policy) {
  switch (policy) {
    case DeadLetterPolicy::kPark:
      return "park";
    case DeadLetterPolicy::kSkip:
      return "skip";
    case DeadLetterPolicy::kStop:
      return "stop";
  }
  return "park";
}

std::string_view ToText(QueueState state) {
  switch (state) {
    case QueueState::kActive:
      return "active";
    case QueueState::kDraining:
      return "draining";
    case QueueState::kDropped:
      return "dropped";
  }
  return "active";
}

std::string_view ToText(DeathReason reason) {
  switch (reason) {
    case DeathReason::kNone:
      return "";
    case DeathReason::kMaxDeliveryCount:
      return "max_delivery_count";
    case DeathReason::kTtl:
      return "ttl";
    case DeathReason::kRejected:
      return "rejected";
    case DeathReason::kSkipped:
      return "skipped";
    case DeathReason::kDropped:
      return "dropped";
  }
  return "";
}

base::Uuid SessionIdOf(std::int64_t queue_id, std::int64_t generation, std::string_view key) {
  const std::string text =
      std::to_string(queue_id) + '\n' + std::to_string(generation) + '\n' + std::string(key);
  std::array<unsigned char, 32> hash{};
  const bool hashed =
      EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(), hash.data(), nullptr) == 1;
  TENURE_CHECK(hashed, "SHA-256 fails");
  base::Uuid id;
  std::copy_n(hash.begin(), id.bytes.size(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x80);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

std::string ErrorClassOf(std::string_view error) {
  const std::string_view line = error.substr(0, error.find_first_of("\r\n"));
  std::string folded;
  for (std::size_t i = 0; i < line.size() && folded.size() < kMaxClassBytes;) {
    std::size_t end = i;
    while (end < line.size() && IsWordPart(line[end])) ++end;
    if (end == i) {
      folded += line[i++];
      continue;
    }
    AppendFolded(line.substr(i, end - i), folded);
    i = end;
  }
  if (folded.size() <= kMaxClassBytes) return folded;
  std::size_t most = kMaxClassBytes;  // not in the middle of a character
  while (most > 0 && (static_cast<unsigned char>(folded[most]) & 0xC0) == 0x80) --most;
  return folded.substr(0, most);
}

std::string QueueTopic(std::string_view name) { return "queue:" + std::string(name); }

std::string ConsumerTopic(std::string_view name, std::string_view consumer) {
  return QueueTopic(name) + '\n' + std::string(consumer);
}

std::string SessionTopic(const base::Uuid& session) {
  return "queue-session:" + session.ToString();
}

}  // namespace tenure::queues
