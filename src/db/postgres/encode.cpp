#include "db/postgres/encode.hpp"

#include <endian.h>

#include <cstring>

#include "base/error.hpp"

namespace tenure::db::postgres {
namespace {

// Type numbers of PostgreSQL's catalogue; they never change.
enum TypeId : std::uint32_t {
  kBool = 16,
  kBytea = 17,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kTid = 27,
  kPgLsn = 3220,
  kVarchar = 1043,
  kUuid = 2950,
};

void Append32(std::string& out, std::uint32_t value) {
  const std::uint32_t big = htobe32(value);
  out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

void Append16(std::string& out, std::uint16_t value) {
  const std::uint16_t big = htobe16(value);
  out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

void Append64(std::string& out, std::int64_t value) {
  const std::uint64_t big = htobe64(static_cast<std::uint64_t>(value));
  out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

std::string_view Raw(const base::Uuid& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

constexpr std::uint32_t ElementType(const base::Uuid*) { return kUuid; }
constexpr std::uint32_t ElementType(const std::int64_t*) { return kInt8; }
constexpr std::uint32_t ElementType(const std::string*) { return kText; }
constexpr std::uint32_t ElementType(const std::string_view*) { return kText; }
constexpr std::uint32_t ElementType(const BytesView*) { return kBytea; }
constexpr std::uint32_t ElementType(const RowPlace*) { return kTid; }

void AppendElement(std::string& out, const base::Uuid& id) {
  Append32(out, 16);
  out += Raw(id);
}
void AppendElement(std::string& out, std::int64_t value) {
  Append32(out, 8);
  Append64(out, value);
}
void AppendElement(std::string& out, std::string_view text) {
  Append32(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}
void AppendElement(std::string& out, BytesView bytes) { AppendElement(out, bytes.data); }
/// A ctid as one number: the page, then 16 bits for the line within it.
void AppendElement(std::string& out, RowPlace place) {
  Append32(out, 6);
  Append32(out, static_cast<std::uint32_t>(place.value >> 16));
  Append16(out, static_cast<std::uint16_t>(place.value & 0xFFFF));
}

/// A one-dimensional array without nulls: dimensions, null flag, element type, length, lower bound,
/// elements.
template <class Element>
std::string EncodeArray(std::span<const Element> column) {
  std::string out;
  out.reserve(20 + column.size() * 24);
  Append32(out, 1);
  Append32(out, 0);
  Append32(out, ElementType(column.data()));
  Append32(out, static_cast<std::uint32_t>(column.size()));
  Append32(out, 1);
  for (const Element& element : column) AppendElement(out, element);
  return out;
}

/// Empty: SQL null.
struct EncodeValue {
  using Encoded = std::optional<std::string>;

  template <class Element>
  Encoded operator()(std::span<const Element> column) const {
    return EncodeArray(column);
  }
  Encoded operator()(std::int64_t value) const {
    std::string out;
    Append64(out, value);
    return out;
  }
  Encoded operator()(const base::Uuid& id) const { return std::string(Raw(id)); }
  Encoded operator()(std::string_view text) const { return std::string(text); }
  Encoded operator()(BytesView bytes) const { return std::string(bytes.data); }
  template <class Value>
  Encoded operator()(const std::optional<Value>& value) const {
    if (!value) return std::nullopt;
    return (*this)(*value);
  }
};

std::int64_t DecodeInt(const char* bytes, int length) {
  switch (length) {
    case 1:
      return *bytes != 0;
    case 2: {
      std::uint16_t big = 0;
      std::memcpy(&big, bytes, sizeof big);
      return static_cast<std::int16_t>(be16toh(big));
    }
    case 4: {
      std::uint32_t big = 0;
      std::memcpy(&big, bytes, sizeof big);
      return static_cast<std::int32_t>(be32toh(big));
    }
    default: {
      std::uint64_t big = 0;
      std::memcpy(&big, bytes, sizeof big);
      return static_cast<std::int64_t>(be64toh(big));
    }
  }
}

std::int64_t DecodePlace(const char* bytes) {
  return DecodeInt(bytes, 4) << 16 | (DecodeInt(bytes + 4, 2) & 0xFFFF);
}

void DecodeCell(const PGresult& result, int row, int column, Rows& rows) {
  if (PQgetisnull(&result, row, column)) {
    rows.AddNull();
    return;
  }
  const char* bytes = PQgetvalue(&result, row, column);
  const int length = PQgetlength(&result, row, column);
  switch (PQftype(&result, column)) {
    case kBool:
    case kInt2:
    case kInt4:
    case kInt8:
    case kPgLsn:
      rows.AddInt(DecodeInt(bytes, length));
      return;
    case kTid:
      rows.AddInt(DecodePlace(bytes));
      return;
    case kText:
    case kVarchar:
    case kBytea:
    case kUuid:
      rows.AddBytes({bytes, static_cast<std::size_t>(length)});
      return;
    default:
      TENURE_CHECK(false, "a query returns a type that db/postgres does not read");
  }
}

}  // namespace

EncodedParams::EncodedParams(std::span<const Param> params) : formats_(params.size(), 1) {
  for (const Param& param : params) {
    auto encoded = std::visit(EncodeValue(), param);
    if (encoded) {
      const std::string& kept = buffers_.emplace_back(std::move(*encoded));
      values_.push_back(kept.data());
      lengths_.push_back(static_cast<int>(kept.size()));
    } else {
      values_.push_back(nullptr);
      lengths_.push_back(0);
    }
  }
}

Rows DecodeRows(const PGresult& result) {
  Rows rows;
  const int columns = PQnfields(&result);
  const int first = columns > 0 && std::string_view(PQfname(&result, 0)) == "ordinal" ? 1 : 0;
  for (int row = 0; row < PQntuples(&result); ++row) {
    std::size_t ordinal = 0;
    if (first == 1)
      ordinal = static_cast<std::size_t>(
                    DecodeInt(PQgetvalue(&result, row, 0), PQgetlength(&result, row, 0))) -
                1;
    rows.BeginRow(ordinal, static_cast<std::size_t>(columns - first));
    for (int column = first; column < columns; ++column) DecodeCell(result, row, column, rows);
  }
  return rows;
}

}  // namespace tenure::db::postgres
