#include "admin/routes/audit_routes.hpp"

#include <fmt/format.h>

#include "admin/routes/upstream_document.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

Task<Result<Answer>> page(store::Store& store, AdminRequest& request) {
  const auto limit = request.limit();
  if (!limit) co_return std::unexpected(limit.error());
  const auto before = request.number("before");
  if (!before) co_return std::unexpected(before.error());
  const auto records = co_await store.audits(*limit, *before);
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
           .answer = "{ audit: AuditRecord[] }",
           .help = "Shows who did what with this API, the newest first.",
           .parameters = {{"limit", "Maximum number to return, up to 1000."},
                          {"before", "Only those with a lower number."}},
           .handle = [&store](AdminRequest& request) { return page(store, request); }}};
}

}  // namespace proteus::admin
