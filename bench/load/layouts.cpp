// Drives one layout of the message table (bench/layouts/*.sql) the way a lane does: prepared
// statements, binary arrays, two flushes per transaction. Prints JSON: for enqueue, claim and ack
// the rate, the processor time of the backends and the bytes of log per message. Processor time is
// what holds on a busy machine.
//
//   layouts --url URL --file RESOLVED.sql --batch N --connections N --backlog N --messages N
//           [--hint 0] [--hold 1]
//
// Rounds: all enqueue, then all claim, then all acknowledge, so that each step is measured by
// itself. A connection claims from behind the last position that it was given (the low-water hint),
// or from the head with --hint 0. With --hold 1 another session keeps a snapshot from the start,
// and at the end the claims from the head and with the hint are timed (and rolled back).

#include <endian.h>
#include <time.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include <libpq-fe.h>

#include "options.hpp"

namespace bench {
namespace {

using Sections = std::map<std::string, std::string>;

constexpr std::int64_t kTopic = 7;
constexpr std::int64_t kNowMs = 1'700'000'000'000;

Sections ReadSections(const std::string& path) {
  std::ifstream in(path);
  if (!in) Die("cannot read " + path);
  Sections sections;
  std::string line;
  std::string name;
  while (std::getline(in, line)) {
    if (line.starts_with("-- @")) {
      name = line.substr(4);
    } else {
      sections[name] += line + "\n";
    }
  }
  return sections;
}

double NowSeconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// --- Binary parameters -------------------------------------------------------------------------

template <class Number>
std::string Big(Number value) {
  std::string out(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * (sizeof value - 1 - i)));
  }
  return out;
}

std::int64_t BigToNumber(const char* bytes) {
  std::uint64_t big = 0;
  std::memcpy(&big, bytes, sizeof big);
  return static_cast<std::int64_t>(be64toh(big));
}

enum TypeId : Oid {
  kBytea = 17,
  kInt8 = 20,
  kInt4 = 23,
  kTid = 27,
  kUuid = 2950,
  kByteaArray = 1001,
  kTidArray = 1010,
  kInt8Array = 1016,
  kUuidArray = 2951,
};

std::string Array(Oid type, const std::vector<std::string>& elements) {
  std::string out = Big(std::int32_t{1}) + Big(std::int32_t{0}) + Big(type) +
                    Big(static_cast<std::int32_t>(elements.size())) + Big(std::int32_t{1});
  for (const std::string& element : elements) {
    out += Big(static_cast<std::int32_t>(element.size()));
    out += element;
  }
  return out;
}

/// What was handed out: one element per message in each column.
struct Batch {
  std::vector<std::string> ids = {};
  std::vector<std::string> fences = {};
  std::vector<std::string> positions = {};
  std::vector<std::string> places = {};
};

// --- One connection ----------------------------------------------------------------------------

class Connection {
 public:
  Connection(const std::string& url, const Sections& sections) : sections_(sections) {
    connection_ = PQconnectdb(url.c_str());
    if (PQstatus(connection_) != CONNECTION_OK) Die(PQerrorMessage(connection_));
    // As our own connections: db/postgres/connection.cpp.
    Simple(
        "set enable_seqscan = off; set jit = off; set max_parallel_workers_per_gather = 0;"
        "set enable_memoize = off; set plan_cache_mode = force_generic_plan");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { PQfinish(connection_); }

  void Prepare() {
    PrepareOne("enqueue", {kUuidArray, kByteaArray, kInt4, kInt8});
    PrepareOne("before_claim", {kInt8});
    PrepareOne("claim", {kInt4, kInt8, kInt8, kInt8, kInt8});
    const std::vector<Oid> items = {kUuidArray, kInt8Array, kInt8Array, kTidArray,
                                    kInt8,      kInt8,      kInt4};
    PrepareOne("mark", items);
    PrepareOne("ack", items);
    PrepareOne("journal", {kUuid, kInt8, kInt8, kBytea});
    if (PQenterPipelineMode(connection_) != 1) Die("no pipeline mode");
  }

  std::string Simple(const std::string& text) {
    PGresult* result = PQexec(connection_, text.c_str());
    const auto status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) Die(PQerrorMessage(connection_));
    std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    return value;
  }

  void Enqueue(std::size_t count) {
    std::vector<std::string> ids;
    std::vector<std::string> payloads;
    for (std::size_t i = 0; i < count; ++i) {
      ids.push_back(NewId());
      payloads.push_back(std::string(200, 'x'));
    }
    Send("enqueue",
         {Array(kUuid, ids), Array(kBytea, payloads), Big(std::int32_t{kTopic}), Big(kNowMs)});
    Flush();
  }

  /// Claims up to `count`. `keep` false: rolls back, for timing.
  Batch Claim(std::size_t count, bool use_hint, bool keep = true) {
    SendText("begin");
    if (Has("before_claim")) Send("before_claim", {Big(kTopic)});
    Send("claim", {Big(std::int32_t{kTopic}), Big(use_hint ? hint_ : std::int64_t{0}),
                   Big(static_cast<std::int64_t>(count)), Big(kWorker), Big(kNowMs)});
    Batch batch;
    Flush(&batch);
    if (Has("mark") && !batch.ids.empty()) {
      for (auto& fence : batch.fences) fence = Big(BigToNumber(fence.data()) + 1);
      Send("mark", Items(batch));
    }
    if (!batch.ids.empty()) SendJournal(batch);
    SendText(keep ? "commit" : "rollback");
    Flush(&batch);
    if (batch.positions.empty()) {
      hint_ = 0;
    } else if (keep) {
      for (const auto& pos : batch.positions) hint_ = std::max(hint_, BigToNumber(pos.data()) + 1);
    }
    return batch;
  }

  void Ack(const Batch& batch) {
    Send("ack", Items(batch));
    if (Flush() != batch.ids.size()) Die("an acknowledgement did not find all its messages");
  }

  /// Nanoseconds that the backend has run so far.
  double BackendCpu() const {
    std::ifstream in(fmt::format("/proc/{}/schedstat", PQbackendPID(connection_)));
    double ns = 0;
    in >> ns;
    return ns;
  }

 private:
  static constexpr std::int64_t kWorker = 3;

  bool Has(const std::string& name) const {
    const auto found = sections_.find(name);
    return found != sections_.end() && !found->second.empty();
  }

  void PrepareOne(const std::string& name, const std::vector<Oid>& types) {
    if (!Has(name)) return;
    PGresult* result = PQprepare(connection_, name.c_str(), sections_.at(name).c_str(),
                                 static_cast<int>(types.size()), types.data());
    if (PQresultStatus(result) != PGRES_COMMAND_OK) Die(name + ": " + PQerrorMessage(connection_));
    PQclear(result);
  }

  void Send(const std::string& name, const std::vector<std::string>& params) {
    std::vector<const char*> values;
    std::vector<int> lengths;
    const std::vector<int> formats(params.size(), 1);
    for (const auto& param : params) {
      values.push_back(param.data());
      lengths.push_back(static_cast<int>(param.size()));
    }
    if (PQsendQueryPrepared(connection_, name.c_str(), static_cast<int>(params.size()),
                            values.data(), lengths.data(), formats.data(), 1) != 1) {
      Die(PQerrorMessage(connection_));
    }
  }

  void SendText(const char* text) {
    if (PQsendQueryParams(connection_, text, 0, nullptr, nullptr, nullptr, nullptr, 1) != 1) {
      Die(PQerrorMessage(connection_));
    }
  }

  void SendJournal(const Batch& batch) {
    std::string items;
    for (std::size_t i = 0; i < batch.ids.size(); ++i) items += batch.ids[i] + batch.fences[i];
    Send("journal", {NewId(), Big(kWorker), Big(kNowMs), items});
  }

  std::vector<std::string> Items(const Batch& batch) const {
    return {Array(kUuid, batch.ids),
            Array(kInt8, batch.fences),
            Array(kInt8, batch.positions),
            Array(kTid, batch.places),
            Big(kWorker),
            Big(kNowMs),
            Big(std::int32_t{kTopic})};
  }

  /// Sends what is queued, reads all answers; returns the rows of the last one that had any.
  std::size_t Flush(Batch* batch = nullptr) {
    if (PQpipelineSync(connection_) != 1) Die(PQerrorMessage(connection_));
    std::size_t rows = 0;
    for (;;) {
      PGresult* result = PQgetResult(connection_);
      if (result == nullptr) continue;
      const auto status = PQresultStatus(result);
      if (status == PGRES_PIPELINE_SYNC) {
        PQclear(result);
        return rows;
      }
      if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) Die(PQerrorMessage(connection_));
      if (status == PGRES_TUPLES_OK) {
        rows = static_cast<std::size_t>(PQntuples(result));
        if (batch != nullptr) Take(result, *batch);
      }
      PQclear(result);
    }
  }

  static void Take(PGresult* result, Batch& batch) {
    const int place = PQfnumber(result, "place");
    const int ordinal = PQfnumber(result, "ordinal");
    const int id = PQfnumber(result, "id");
    const auto cell = [&](int row, int column) {
      return std::string(PQgetvalue(result, row, column),
                         static_cast<std::size_t>(PQgetlength(result, row, column)));
    };
    for (int row = 0; row < PQntuples(result); ++row) {
      if (ordinal >= 0 && place >= 0) {
        const auto at = static_cast<std::size_t>(BigToNumber(cell(row, ordinal).data()) - 1);
        batch.places.at(at) = cell(row, place);
      } else if (id >= 0) {
        batch.ids.push_back(cell(row, id));
        batch.fences.push_back(cell(row, PQfnumber(result, "fence")));
        batch.positions.push_back(cell(row, PQfnumber(result, "pos")));
        batch.places.push_back(cell(row, place));
      }
    }
  }

  /// UUIDv7: 48 bits of milliseconds, the rest random.
  std::string NewId() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const auto ms = static_cast<std::uint64_t>(now.tv_sec) * 1000 +
                    static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
    return Big((ms << 16) | 0x7000 | (random_() & 0x0fff)) +
           Big((random_() >> 2) | 0x8000'0000'0000'0000);
  }

  const Sections& sections_;
  PGconn* connection_ = nullptr;
  std::mt19937_64 random_{std::random_device()()};
  std::int64_t hint_ = 0;
};

// --- Rounds ------------------------------------------------------------------------------------

struct Step {
  double seconds = 0;
  double cpu_ns = 0;
  double wal = 0;
};

struct Work {
  std::size_t batch = 0;
  std::size_t connections = 0;
  std::size_t messages = 0;
  bool use_hint = true;
};

class Rounds {
 public:
  Rounds(const std::string& url, const Sections& sections, const Work& work)
      : work_(work), control_(url, sections) {
    for (std::size_t i = 0; i < work.connections; ++i) {
      connections_.push_back(std::make_unique<Connection>(url, sections));
      connections_.back()->Prepare();
    }
  }

  /// Runs all rounds; enqueue only when `enqueue_only`, as filling does.
  void Run(bool enqueue_only = false) {
    const std::size_t round = std::min<std::size_t>(5000, work_.messages);
    for (std::size_t done = 0; done < work_.messages; done += round) {
      Measure("enqueue", round, [](Connection& c, std::size_t n, auto&) { c.Enqueue(n); });
      if (enqueue_only) continue;
      Measure("claim", round, [this](Connection& c, std::size_t n, std::vector<Batch>& mine) {
        mine.push_back(c.Claim(n, work_.use_hint));
        return mine.back().ids.size();
      });
      MeasureAcks();
      messages_ += round;
    }
  }

  double ClaimMs(std::size_t times, bool use_hint) {
    const double begun = NowSeconds();
    for (std::size_t i = 0; i < times; ++i) connections_[0]->Claim(work_.batch, use_hint, false);
    return (NowSeconds() - begun) * 1000 / static_cast<double>(times);
  }

  std::string Json() const {
    std::string out = fmt::format(R"("messages": {})", messages_);
    const auto count = static_cast<double>(messages_);
    for (const auto& [name, step] : steps_) {
      out += fmt::format(R"(, "{}": {{"rate": {:.0f}, "cpu_us": {:.2f}, "wal": {:.0f}}})", name,
                         count / step.seconds, step.cpu_ns / 1000 / count, step.wal / count);
    }
    return out;
  }

 private:
  using Held = std::vector<std::vector<Batch>>;

  /// Each connection does its share in batches until the round is done.
  template <class Do>
  void Measure(const std::string& name, std::size_t round, Do&& act) {
    std::atomic<std::int64_t> left = static_cast<std::int64_t>(round);
    held_.resize(connections_.size());
    Timed(name, [&](std::size_t i) {
      for (;;) {
        const auto want = static_cast<std::int64_t>(work_.batch);
        const auto before = left.fetch_sub(want);
        if (before <= 0) return;
        auto n = std::min(before, want);
        if constexpr (std::is_void_v<decltype(act(*connections_[i], 1, held_[i]))>) {
          act(*connections_[i], static_cast<std::size_t>(n), held_[i]);
        } else {
          // Another may hold the locks of what is left: ask until our share is there.
          while (n > 0) {
            n -= static_cast<std::int64_t>(
                act(*connections_[i], static_cast<std::size_t>(n), held_[i]));
          }
        }
      }
    });
  }

  void MeasureAcks() {
    Timed("ack", [&](std::size_t i) {
      for (const Batch& batch : held_[i]) {
        if (!batch.ids.empty()) connections_[i]->Ack(batch);
      }
    });
    held_.clear();
  }

  template <class Act>
  void Timed(const std::string& name, Act&& act) {
    Step& step = steps_[name];
    const double cpu = Cpu();
    const double wal = Wal();
    const double begun = NowSeconds();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < connections_.size(); ++i) threads.emplace_back(act, i);
    for (auto& thread : threads) thread.join();
    step.seconds += NowSeconds() - begun;
    step.cpu_ns += Cpu() - cpu;
    step.wal += Wal() - wal;
  }

  double Cpu() const {
    double sum = 0;
    for (const auto& connection : connections_) sum += connection->BackendCpu();
    return sum;
  }
  double Wal() { return std::stod(control_.Simple("select pg_current_wal_insert_lsn() - '0/0'")); }

  Work work_;
  Connection control_;
  std::vector<std::unique_ptr<Connection>> connections_ = {};
  std::map<std::string, Step> steps_ = {};
  Held held_ = {};
  std::size_t messages_ = 0;
};

int Run(const Options& options) {
  const Sections sections = ReadSections(options.Text("file"));
  const std::string url = options.Text("url");
  if (const auto backlog = options.Number("backlog", 0); backlog > 0) {
    Rounds(url, sections, {.batch = 5000, .connections = 2, .messages = backlog}).Run(true);
  }
  Connection other(url, sections);
  const bool hold = options.Number("hold", 0) != 0;
  if (hold) other.Simple("begin isolation level repeatable read; select count(*) from claim");

  Rounds rounds(url, sections,
                {.batch = options.Number("batch"),
                 .connections = options.Number("connections"),
                 .messages = options.Number("messages"),
                 .use_hint = options.Number("hint", 1) != 0});
  rounds.Run();
  std::string more;
  if (hold) {
    const double hinted = rounds.ClaimMs(20, true);
    more = fmt::format(R"(, "claim_ms_hint": {:.2f}, "claim_ms_head": {:.2f})", hinted,
                       rounds.ClaimMs(5, false));
  }
  fmt::print("{{{}{}}}\n", rounds.Json(), more);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) { return bench::Run(bench::Options(count - 1, words + 1)); }
