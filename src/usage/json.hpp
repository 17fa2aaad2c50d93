#pragma once

#include <string>

#include "usage/usage.hpp"

/// What the API says of usage; camelCase, as the document it comes from.
namespace tenure::usage {

/// `with_counts`: how many records there are, which is for those who may see all tenants.
std::string WindowsJson(const WindowsReply& reply, bool with_counts);
/// REQUIRES: there is a window.
std::string RecordsPageJson(const RecordsReply& reply);
/// REQUIRES: there are windows.
std::string TotalsJson(const TotalsReply& reply);
std::string FactorsJson(const FactorsReply& reply);
std::string FactorJson(const Factor& factor);
std::string RefusedJson(const RefusedReply& reply);

}  // namespace tenure::usage
