#include "base/uuid.hpp"

#include <sys/random.h>

#include <algorithm>

#include "base/error.hpp"

namespace tenure::base {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::size_t kTextSize = 36;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool IsHyphenPosition(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

/// A thread's stock of random bytes. A fork would share it with the child; Tenure never forks.
struct RandomPool {
  std::array<std::uint8_t, 512> bytes{};
  std::size_t used = sizeof(bytes);

  void Refill() {
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
      if (got > 0) filled += static_cast<std::size_t>(got);
      TENURE_CHECK(got > 0 || errno == EINTR, "the kernel gave no random bytes");
    }
    used = 0;
  }
};

}  // namespace

std::optional<Uuid> Uuid::Parse(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  Uuid id;
  std::size_t byte = 0;
  for (std::size_t i = 0; i < kTextSize;) {
    if (IsHyphenPosition(i)) {
      if (text[i] != '-') return std::nullopt;
      ++i;
      continue;
    }
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes[byte++] = static_cast<std::uint8_t>(high << 4 | low);
    i += 2;
  }
  return id;
}

Uuid Uuid::V7(std::int64_t ms) {
  Uuid id;
  RandomBytes(id.bytes.data() + 6, 10);
  for (int i = 0; i < 6; ++i)
    id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  id.bytes[6] = static_cast<std::uint8_t>(0x70 | (id.bytes[6] & 0x0F));
  id.bytes[8] = static_cast<std::uint8_t>(0x80 | (id.bytes[8] & 0x3F));
  return id;
}

std::int64_t Uuid::TimestampMs() const {
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i) ms = ms << 8 | bytes[i];
  return ms;
}

void Uuid::AppendTo(std::string& out) const {
  char text[kTextSize];
  std::size_t byte = 0;
  for (std::size_t i = 0; i < kTextSize;) {
    if (IsHyphenPosition(i)) {
      text[i++] = '-';
      continue;
    }
    text[i++] = kHex[bytes[byte] >> 4];
    text[i++] = kHex[bytes[byte] & 0x0F];
    ++byte;
  }
  out.append(text, kTextSize);
}

std::string Uuid::ToString() const {
  std::string out;
  AppendTo(out);
  return out;
}

void RandomBytes(std::uint8_t* out, std::size_t size) {
  thread_local RandomPool pool;
  while (size > 0) {
    if (pool.used == pool.bytes.size()) pool.Refill();
    const std::size_t take = std::min(size, pool.bytes.size() - pool.used);
    std::copy_n(pool.bytes.data() + pool.used, take, out);
    pool.used += take;
    out += take;
    size -= take;
  }
}

std::string RandomHex(std::size_t size) {
  std::string raw(size, '\0');
  RandomBytes(reinterpret_cast<std::uint8_t*>(raw.data()), size);
  std::string text;
  text.reserve(size * 2);
  for (const char c : raw) {
    const auto byte = static_cast<std::uint8_t>(c);
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 0x0F]);
  }
  return text;
}

}  // namespace tenure::base
