#include "client/seats/machine_id.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.hpp"
#include "base/read_file.hpp"
#include "base/utf8.hpp"
#include "base/uuid.hpp"

namespace tenure::client {
namespace {

using seats::MachineScope;

constexpr std::size_t kMaxMachineIdBytes = 255;
constexpr std::size_t kMaxIdFileBytes = 256;
constexpr std::size_t kDerivedBytes = 16;

/// The first line; empty when there is none.
std::string LineOfFile(const std::string& path) {
  try {
    std::string text = base::ReadWholeFile(path, kMaxIdFileBytes);
    text.resize(std::min(text.find('\n'), text.size()));
    return text;
  } catch (const base::UserError&) {
    return {};
  }
}

/// 128 bits of a hash over parts that cannot run into each other.
std::string DerivedId(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += fmt::format("{}:{};", part.size(), part);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const bool done = EVP_Digest(text.data(), text.size(), hash, &size, EVP_sha256(), nullptr) == 1;
  TENURE_CHECK(done && size >= kDerivedBytes, "SHA-256 fails");
  std::string id;
  for (std::size_t i = 0; i < kDerivedBytes; ++i) id += fmt::format("{:02x}", hash[i]);
  return id;
}

std::string MachineOf(const seats::SeatOptions& options, const MachineFiles& files) {
  std::string machine = LineOfFile(files.machine_id);
  if (machine.empty()) machine = LineOfFile(files.older_machine_id);
  // An image that was never started has this in place of an id, and so would all of its copies.
  if (machine.empty() || machine == "uninitialized") return {};
  if (options.machine_scope == MachineScope::kMachine)
    return DerivedId({"tenure-seat", machine, options.application});
  const std::string boot = LineOfFile(files.boot_id);
  return boot.empty() ? std::string()
                      : DerivedId({"tenure-seat-boot", machine, boot, options.application});
}

bool IsMachineId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxMachineIdBytes && base::IsStorableText(id) &&
         std::ranges::none_of(
             id, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
}

}  // namespace

std::string ChooseMachineId(const seats::SeatOptions& options, std::string_view remembered,
                            const MachineFiles& files) {
  std::string id = options.machine_id;
  if (id.empty() && options.machine_scope != MachineScope::kProcess) id = MachineOf(options, files);
  if (id.empty() && options.machine_scope == MachineScope::kMachine && !remembered.empty()) {
    if (IsMachineId(remembered)) return std::string(remembered);  // with its instance
  }
  if (id.empty()) id = base::RandomHex(kDerivedBytes);
  if (!options.instance.empty()) id += "/" + options.instance;
  if (!IsMachineId(id))
    throw std::invalid_argument(
        "machine_id, with its instance, must have 1 to 255 bytes of UTF-8 without control "
        "characters");
  return id;
}

}  // namespace tenure::client
