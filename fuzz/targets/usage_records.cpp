// sink::ReadRecords: the body of POST /usages.
//
// What must hold: records that are accepted, printed as the sink prints them, are accepted again
// and are the same. Money-like numbers have one spelling, and it comes back (U1, U2).

#include "sink/record.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tenure::sink::ReadRecords;
  try {
    const auto records = ReadRecords(tenure::fuzz::AsText(data, size));
    TENURE_CHECK(!records.empty() && records.size() <= tenure::sink::kMaxRecords,
                 "no record, or too many, are let through");
    std::string text;
    tenure::base::JsonWriter json(text);
    json.BeginArray();
    for (const auto& record : records) tenure::sink::WriteRecord(json, record);
    json.EndArray();
    TENURE_CHECK(ReadRecords(text) == records, "records do not survive being printed");
  } catch (const tenure::http::ProblemError& error) {
    tenure::fuzz::CheckRefusal(error);
  }
  return 0;
}
