#include "base/uuid.hpp"

#include <sys/random.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/seeded_random.hpp"

namespace tenure::base {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::size_t kTextSize = 36;

/// The value of each hexadecimal digit; 0xFF: it is none.
constexpr std::array<std::uint8_t, 256> kHexValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(0xFF);
  for (std::uint8_t i = 0; i < 16; ++i) {
    values[static_cast<std::uint8_t>(kHex[i])] = i;
    if (i > 9) values[static_cast<std::uint8_t>(kHex[i] - 'a' + 'A')] = i;
  }
  return values;
}();

/// Where each byte's two digits stand in the text.
constexpr std::array<std::uint8_t, 16> kHexPlaces{0,  2,  4,  6,  9,  11, 14, 16,
                                                  19, 21, 24, 26, 28, 30, 32, 34};

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

thread_local std::mt19937_64* seeded_random = nullptr;

}  // namespace

std::optional<Uuid> Uuid::Parse(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return std::nullopt;
  Uuid id;
  std::uint8_t wrong = 0;
  for (std::size_t i = 0; i < kHexPlaces.size(); ++i) {
    const std::uint8_t high = kHexValues[static_cast<std::uint8_t>(text[kHexPlaces[i]])];
    const std::uint8_t low = kHexValues[static_cast<std::uint8_t>(text[kHexPlaces[i] + 1u])];
    wrong |= high | low;
    id.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (wrong > 0x0F) return std::nullopt;
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
  char text[] = "00000000-0000-0000-0000-000000000000";
  for (std::size_t i = 0; i < kHexPlaces.size(); ++i) {
    text[kHexPlaces[i]] = kHex[bytes[i] >> 4];
    text[kHexPlaces[i] + 1u] = kHex[bytes[i] & 0x0F];
  }
  out.append(text, kTextSize);
}

std::string Uuid::ToString() const {
  std::string out;
  AppendTo(out);
  return out;
}

SeededRandom::SeededRandom(std::uint64_t seed) : random_(seed) { seeded_random = &random_; }
SeededRandom::~SeededRandom() { seeded_random = nullptr; }

void RandomBytes(std::uint8_t* out, std::size_t size) {
  if (seeded_random) {
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>((*seeded_random)());
    return;
  }
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
