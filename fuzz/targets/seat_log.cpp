// seats::ExportReader and seats::Prover: a file with the logs of licences, from anywhere.
//
// What must hold: a line that is read, printed again, is read as the same; and whatever the entries
// say, the prover comes to an end, and does not call a log proven in which it found something.

#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "seats/log_export.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure::seats;
  std::istringstream in{std::string(tenure::fuzz::AsText(data, size))};
  ExportReader reader(in);
  std::optional<Prover> prover;
  LogHead head;
  try {
    while (const auto line = reader.Next()) {
      std::string printed;
      std::visit([&](const auto& each) { AppendExportLine(printed, each); }, *line);
      std::istringstream again(printed);
      const auto reread = ExportReader(again).Next();
      TENURE_CHECK(reread && reread->index() == line->index(), "a line does not survive");
      if (const auto* license = std::get_if<ExportedLicense>(&*line)) {
        prover.emplace(license->license);
        head = license->head;
      } else {
        TENURE_CHECK(std::get<LogEntry>(*reread) == std::get<LogEntry>(*line),
                     "an entry does not survive being printed");
        if (prover) prover->Add(std::get<LogEntry>(*line));
      }
    }
  } catch (const tenure::base::UserError&) {
    return 0;
  }
  if (!prover) return 0;
  const Proof proof = prover->Conclude(head);
  TENURE_CHECK(proof.proven() == proof.findings.first.empty(), "what was found is not told");
  return 0;
}
