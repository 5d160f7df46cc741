#include "admin/audit_routes.hpp"

#include <fmt/format.h>

#include "admin/upstream_document.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

constexpr std::size_t kDefaultLimit = 100;
constexpr std::size_t kMaxLimit = 1000;

Task<Result<Answer>> page(store::Store& store, Visit& visit) {
  auto limit = visit.number("limit");
  if (!limit) co_return std::unexpected(std::move(limit.error()));
  if (*limit && (**limit == 0 || **limit > kMaxLimit))
    co_return std::unexpected(errors::invalid(fmt::format("limit must be from 1 to {}", kMaxLimit)));
  const auto before = visit.number("before");
  if (!before) co_return std::unexpected(before.error());
  const auto records = co_await store.audits(static_cast<std::size_t>(limit->value_or(kDefaultLimit)), *before);
  if (!records) co_return std::unexpected(records.error());
  std::string all;
  for (const auto& record : *records) {
    all += fmt::format(R"({}{{"number":{},"at":"{}","who":{},"what":{},"detail":{}}})", all.empty() ? "" : ",",
                       record.number, write_time(record.at), json::quote(record.who), json::quote(record.what),
                       record.detail.empty() ? "{}" : record.detail);
  }
  co_return Answer{.body = fmt::format(R"({{"audit":[{}]}})", all)};
}

}  // namespace

Routes audit_routes(store::Store& store) {
  return {{.method = "GET",
           .path = "/admin/audit",
           .help = "Who did what with this API, the newest first.",
           .parameters = {{"limit", "At most so many, up to 1000."}, {"before", "Only those with a lower number."}},
           .handle = [&store](Visit& visit) { return page(store, visit); }}};
}

}  // namespace proteus::admin
