#include "session_requests.hpp"

#include <fmt/format.h>

#include "protocol.hpp"

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
                     R"("tenantObjectId":"11111111-1111-4111-8111-111111111111",)"
                     R"("capacityId":"22222222-2222-4222-8222-{:012x}","sessionKind":{}}})",
                     high >> 32, high >> 16 & 0xFFFF, high & 0xFFF, low >> 48 & 0xFFF,
                     low & 0xFFFFFFFFFFFF, place, kind);
}

std::string PutRequest(std::uint64_t number, int kind) {
  return HttpRequest("PUT", "/sessions", PutBody(number, kind));
}

std::string DeleteRequest(std::string_view path) { return HttpRequest("DELETE", path); }

}  // namespace bench
