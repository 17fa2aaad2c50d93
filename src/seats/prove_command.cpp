#include "seats/prove_command.hpp"

#include <fstream>
#include <unordered_map>

#include <fmt/format.h>

#include "cli/progress.hpp"
#include "cli/server.hpp"

namespace tenure::seats {
namespace {

using cli::Given;

constexpr std::string_view kProveNotes =
    R"(Reads the log of each licence (of all, when none is named) and nothing else, and checks: entries
are numbered without a gap, every hash is right and the last one is the licence's head; times
never fall; no seat is given twice, and every end is that of its holder; no seat was given while
as many as the limit were held. It says the limit, the highest number held at once and when, what
was over a limit that had been lowered, what was ended by force, and restores of the store.

Whoever can write the whole database can write a whole new log. Keep what --json prints somewhere
else; --expect holds a later log to it.

Exit code 0 when all is proven, 4 when something is not; it is named by its entry.

Examples:
  tenure seat prove
  tenure seat export > logs.ndjson; tenure seat prove --file logs.ndjson
  tenure seat prove --json >> heads.ndjson; tenure seat prove --expect heads.ndjson
)";

constexpr std::string_view kExportNotes =
    R"(Prints the logs of the licences (of all, when none is named) as lines of JSON, as they were when
the command began. `tenure seat prove --file` checks them on any machine, without a server.

Example:
  tenure seat export > logs.ndjson
)";

std::vector<base::Uuid> LicensesOf(const Given& given) {
  std::vector<base::Uuid> ids;
  for (const std::string& text : given.All("LICENSE")) ids.push_back(*base::Uuid::Parse(text));
  return ids;
}

class ExportPrinter final : public LogReader {
 public:
  explicit ExportPrinter(std::ostream& out) : out_(out) {}

  void Begin(const ExportedLicense& license) override { Print(license); }
  void Add(const LogEntry& entry) override { Print(entry); }
  void End() override { out_.flush(); }

 private:
  template <class Line>
  void Print(const Line& line) {
    text_.clear();
    AppendExportLine(text_, line);
    out_ << text_;
    if (!out_) throw base::UserError("the export cannot be written");
  }

  std::ostream& out_;
  std::string text_;
};

using KeptHeads = std::unordered_map<base::Uuid, std::vector<LogHead>>;

class ProofPrinter final : public LogReader {
 public:
  ProofPrinter(KeptHeads kept, bool as_json, cli::Console& console)
      : kept_(std::move(kept)),
        as_json_(as_json),
        out_(console.out),
        progress_(console, "entries") {}

  void Begin(const ExportedLicense& license) override {
    prover_.emplace(license.license);
    head_ = license.head;
    const auto kept = kept_.find(license.license);
    if (kept == kept_.end()) return;
    for (const LogHead& head : kept->second) prover_->Expect(head);
    kept_.erase(kept);
  }
  void Add(const LogEntry& entry) override {
    constexpr std::int64_t kAtATime = 1'024;  // a look at the clock is not for each entry
    prover_->Add(entry);
    if (++entries_ % kAtATime == 0) progress_.At(entries_);
  }
  void End() override { Tell(prover_->Conclude(head_)); }

  /// A licence whose head was kept and that is not there any more is proven by nothing.
  void TellMissing(const std::vector<base::Uuid>& wanted) {
    for (const auto& [license, heads] : kept_) {
      if (!wanted.empty() && std::ranges::find(wanted, license) == wanted.end()) continue;
      Prover prover(license);
      for (const LogHead& head : heads) prover.Expect(head);
      Tell(prover.Conclude(std::nullopt));
    }
  }

  std::size_t licenses() const { return licenses_; }
  bool all_proven() const { return all_proven_; }

 private:
  void Tell(const Proof& proof) {
    progress_.End();
    all_proven_ = all_proven_ && proof.proven();
    if (licenses_++ > 0 && !as_json_) out_ << '\n';
    out_ << (as_json_ ? ProofJson(proof) : ProofText(proof)) << std::flush;
  }

  KeptHeads kept_;
  const bool as_json_;
  std::ostream& out_;
  cli::Progress progress_;
  std::int64_t entries_ = 0;
  std::optional<Prover> prover_;
  LogHead head_;
  std::size_t licenses_ = 0;
  bool all_proven_ = true;
};

std::ifstream OpenFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::UserError(fmt::format("{} cannot be read", path));
  return file;
}

/// What `prove --json` printed, or an export: the lines of licences count.
KeptHeads ReadHeads(const std::string& path) {
  std::ifstream file = OpenFile(path);
  ExportReader lines(file);
  KeptHeads heads;
  while (auto line = lines.Next())
    if (const auto* license = std::get_if<ExportedLicense>(&*line))
      if (license->head.seq > 0) heads[license->license].push_back(license->head);
  return heads;
}

using Use = std::function<int(LogSource&)>;

int WithSource(const StoreLogs& store, const Given& given, cli::Console& console, const Use& use) {
  if (const std::string* const path = given.Find("--file")) {
    std::ifstream file = OpenFile(*path);
    return use(*MakeFileSource(file));
  }
  const auto opened = store.open ? store.open(given) : nullptr;
  try {
    return use(opened ? *opened : *MakeServerSource(given));
  } catch (const RefusedLog& refused) {
    return ReportRefusal(refused.answer, cli::Server(given).form(), console);
  }
}

int ExportLogs(const StoreLogs& store, const Given& given, cli::Console& console) {
  ExportPrinter printer(console.out);
  return WithSource(store, given, console, [&](LogSource& source) {
    source.Read(LicensesOf(given), printer);
    return cli::kExitDone;
  });
}

int ProveLogs(const StoreLogs& store, const Given& given, cli::Console& console) {
  const std::string* const expect = given.Find("--expect");
  ProofPrinter printer(expect ? ReadHeads(*expect) : KeptHeads{}, given.Has("--json"), console);
  const std::vector<base::Uuid> wanted = LicensesOf(given);
  return WithSource(store, given, console, [&](LogSource& source) {
    source.Read(wanted, printer);
    printer.TellMissing(wanted);
    if (printer.licenses() == 0) console.err << "there is no licence\n";
    return printer.all_proven() ? cli::kExitDone : cli::kExitConflict;
  });
}

}  // namespace

cli::Commands LogCommands(const StoreLogs& store) {
  using namespace cli;  // the words of its tables
  const Flags licenses{Arguments("LICENSE", "Only these; their ids.", cli::Uuid)};
  const auto run = [store](auto command) {
    return [store, command](const Given& given, Console& console) {
      return command(store, given, console);
    };
  };
  return {{.words = "seat prove",
           .summary = "Check that no licence ever had more holders than seats",
           .notes = std::string(kProveNotes),
           .flags = licenses +
                    Flags{Value("--file", "FILE", "Read an export instead of asking a server."),
                          Value("--expect", "FILE",
                                "Heads that were kept elsewhere: what --json printed before.")} +
                    store.flags + ServerFlags(),
           .run = run(ProveLogs)},
          {.words = "seat export",
           .summary = "Print the logs of licences, to be checked elsewhere",
           .notes = std::string(kExportNotes),
           .flags = licenses + store.flags + ServerFlags(),
           .run = run(ExportLogs)}};
}

}  // namespace tenure::seats
