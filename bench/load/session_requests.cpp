#include "session_requests.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

/// splitmix64: neighbours become strangers.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

std::string PutBody(std::uint64_t number, int kind) {
  const std::uint64_t high = Mix(2 * number);
  const std::uint64_t low = Mix(2 * number + 1);
  const std::uint64_t place = number % 16 + 1;
  return fmt::format(R"({{"userObjectId":"{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",)"
                     R"("tenantObjectId":"11111111-1111-4111-8111-{:012x}",)"
                     R"("capacityId":"22222222-2222-4222-8222-{:012x}","sessionKind":{}}})",
                     high >> 32, high >> 16 & 0xFFFF, high & 0xFFF, low >> 48 & 0xFFF,
                     low & 0xFFFFFFFFFFFF, place, place, kind);
}

std::string PutRequest(std::uint64_t number, int kind) {
  const std::string body = PutBody(number, kind);
  return fmt::format(
      "PUT /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
}

std::string DeleteRequest(std::string_view path) {
  return fmt::format("DELETE {} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
}

}  // namespace bench
