#include "lease_peers.hpp"

#include <charconv>
#include <random>

#include "options.hpp"

namespace bench {
namespace {

constexpr int kTtlSeconds = 30;

std::mt19937_64& Random() {
  static std::mt19937_64 random{std::random_device()()};
  return random;
}

[[noreturn]] void Wrong(const std::string& what, const Answer& answer) {
  Die(fmt::format("{} was answered {} {}", what, answer.status, answer.body));
}

void Check(bool right, const char* what, const Answer& answer) {
  if (!right) Wrong(what, answer);
}

std::int64_t IntegerOf(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class TenurePeer : public LeasePeer {
 public:
  std::string Acquire(const Hold& hold, int) override { return AcquireRequest(hold, {}); }
  void Acquired(Hold& hold, int, const Answer& answer) override {
    Check(answer.status == 200, "acquire", answer);
    hold.id = IntegerOf(JsonValue(answer.body, "fence"));
  }
  std::string Release(const Hold& hold) override { return ReleaseRequest(hold); }
  void Released(const Answer& answer) override {
    Check(JsonValue(answer.body, "released") == "true", "release", answer);
  }
  std::string Renew(const Hold& hold) override { return RenewRequest(hold); }
  void Renewed(const Answer& answer) override { Check(answer.status == 200, "renew", answer); }
};

std::string Base64(std::string_view text) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < text.size() ? static_cast<unsigned char>(text[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j > text.size() ? '=' : kLetters[bits >> (18 - 6 * j) & 63];
  }
  return out;
}

class EtcdPeer : public LeasePeer {
 public:
  int last_step() const override { return 1; }
  std::string Acquire(const Hold& hold, int step) override {
    if (step == 0) return Post("/v3/lease/grant", fmt::format(R"({{"TTL":{}}})", kTtlSeconds));
    const std::string key = Base64(hold.name);
    return Post("/v3/kv/txn",
                fmt::format(R"({{"compare":[{{"key":"{}","target":"CREATE","result":"EQUAL",)"
                            R"("create_revision":0}}],"success":[{{"request_put":{{"key":"{}",)"
                            R"("value":"{}","lease":{}}}}}]}})",
                            key, key, Base64(hold.term), hold.id));
  }
  void Acquired(Hold& hold, int step, const Answer& answer) override {
    if (step == 0) {
      hold.id = IntegerOf(JsonValue(answer.body, "ID"));
      return Check(answer.status == 200 && hold.id != 0, "lease/grant", answer);
    }
    Check(JsonValue(answer.body, "succeeded") == "true", "txn", answer);
  }
  std::string Release(const Hold& hold) override {
    return Post("/v3/lease/revoke", fmt::format(R"({{"ID":{}}})", hold.id));
  }
  void Released(const Answer& answer) override {
    Check(answer.status == 200, "lease/revoke", answer);
  }
  std::string Renew(const Hold& hold) override {
    return Post("/v3/lease/keepalive", fmt::format(R"({{"ID":{}}})", hold.id));
  }
  void Renewed(const Answer& answer) override {
    Check(IntegerOf(JsonValue(answer.body, "TTL")) > 0, "lease/keepalive", answer);
  }
};

/// A new name keeps the lease of the client's last one; only the first is granted one.
class EtcdSessionPeer : public EtcdPeer {
 public:
  int first_step(const Hold& hold) const override { return hold.id == 0 ? 0 : 1; }
  std::string Release(const Hold& hold) override {
    return Post("/v3/kv/deleterange", fmt::format(R"({{"key":"{}"}})", Base64(hold.name)));
  }
  void Released(const Answer& answer) override {
    Check(JsonValue(answer.body, "deleted") == "1", "deleterange", answer);
  }
};

/// A command in Redis's own framing.
template <class... Words>
std::string Command(const Words&... words) {
  std::string out = fmt::format("*{}\r\n", sizeof...(words));
  ((out += fmt::format("${}\r\n{}\r\n", std::string_view(words).size(), words)), ...);
  return out;
}

class RedisPeer : public LeasePeer {
 public:
  Parser parser() const override { return ParseRedis; }
  std::string Acquire(const Hold& hold, int) override {
    return Command("SET", hold.name, hold.term, "NX", "PX", fmt::to_string(kTtlSeconds * 1'000));
  }
  void Acquired(Hold&, int, const Answer& answer) override {
    Check(answer.body == "+OK", "SET NX", answer);
  }
  std::string Release(const Hold& hold) override {
    return Command("EVAL",
                   "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) "
                   "end return 0",
                   "1", hold.name, hold.term);
  }
  void Released(const Answer& answer) override {
    Check(answer.body == ":1", "compare and delete", answer);
  }
  std::string Renew(const Hold& hold) override {
    return Command("EVAL",
                   "if redis.call('get',KEYS[1])==ARGV[1] then return "
                   "redis.call('pexpire',KEYS[1],ARGV[2]) end return 0",
                   "1", hold.name, hold.term, fmt::to_string(kTtlSeconds * 1'000));
  }
  void Renewed(const Answer& answer) override {
    Check(answer.body == ":1", "compare and extend", answer);
  }
};

/// Tenure's leases on a Redis: one script for each call. The reply's strings stand in every other line.
class TenureRedisPeer : public LeasePeer {
 public:
  explicit TenureRedisPeer(const Options& options)
      : acquire_(options.Text("acquire")),
        release_(options.Text("release")),
        renew_(options.Text("renew")) {}
  Parser parser() const override { return ParseRedis; }
  std::string Acquire(const Hold& hold, int) override {
    return Call(acquire_, hold, hold.term, ttl_, "bench", "", "go");
  }
  void Acquired(Hold& hold, int, const Answer& answer) override {
    Check(LineOf(answer, 2) == "granted", "acquire", answer);
    hold.id = IntegerOf(LineOf(answer, 4));
  }
  std::string Release(const Hold& hold) override {
    return Call(release_, hold, hold.term, fmt::to_string(hold.id));
  }
  void Released(const Answer& answer) override {
    Check(LineOf(answer, 2) == "released", "release", answer);
  }
  std::string Renew(const Hold& hold) override {
    return Call(renew_, hold, hold.term, fmt::to_string(hold.id), ttl_);
  }
  void Renewed(const Answer& answer) override {
    Check(LineOf(answer, 2) == "granted", "renew", answer);
  }

 private:
  /// Of a Redis that keeps every grant.
  template <class... Words>
  static std::string Call(const std::string& script, const Hold& hold, const Words&... words) {
    return Command("EVALSHA", script, "0", "tenure:", "0", "0", hold.name, words...);
  }
  static std::string_view LineOf(const Answer& answer, int number) {
    std::string_view rest = answer.body;
    for (; number > 0; --number) {
      const std::size_t end = rest.find("\r\n");
      if (end == std::string_view::npos) return {};
      rest.remove_prefix(end + 2);
    }
    return rest.substr(0, rest.find("\r\n"));
  }

  const std::string acquire_;
  const std::string release_;
  const std::string renew_;
  const std::string ttl_ = fmt::to_string(kTtlSeconds * 1'000);
};

}  // namespace

Hold NewHold() {
  const std::uint64_t high = Random()();
  const std::uint64_t low = Random()();
  return {
      .name = fmt::format("bench/{:016x}", Random()()),
      .term = fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", high >> 32, high >> 16 & 0xFFFF,
                          high & 0xFFF, low >> 48 & 0xFFF, low & 0xFFFFFFFFFFFF)};
}

std::unique_ptr<LeasePeer> MakeLeasePeer(const Options& options) {
  const std::string name = options.Text("peer");
  if (name == "tenure") return std::make_unique<TenurePeer>();
  if (name == "etcd") return std::make_unique<EtcdPeer>();
  if (name == "etcd-session") return std::make_unique<EtcdSessionPeer>();
  if (name == "redis") return std::make_unique<RedisPeer>();
  if (name == "tenure-redis") return std::make_unique<TenureRedisPeer>(options);
  Die("--peer is tenure, etcd, etcd-session, redis or tenure-redis");
}

std::string Post(const std::string& path, const std::string& body) {
  return HttpRequest("POST", path, body);
}

std::string Get(const std::string& path) { return HttpRequest("GET", path); }

std::string LeasePath(const Hold& hold) {
  std::string path = "/api/v1/leases/";
  for (const char c : hold.name) c == '/' ? path += "%2F" : path += c;
  return path;
}

std::string AcquireRequest(const Hold& hold, const AcquireOptions& options) {
  return Post(LeasePath(hold) + "/acquire",
              fmt::format(R"({{"term":"{}","ttl_ms":{},"holder":"bench","wait_ms":{}}})", hold.term,
                          options.ttl_ms, options.wait_ms));
}

std::string RenewRequest(const Hold& hold) {
  return Post(LeasePath(hold) + "/renew",
              fmt::format(R"({{"fence":{},"term":"{}"}})", hold.id, hold.term));
}

std::string ReleaseRequest(const Hold& hold) {
  return Post(LeasePath(hold) + "/release",
              fmt::format(R"({{"term":"{}","fence":{}}})", hold.term, hold.id));
}

}  // namespace bench
