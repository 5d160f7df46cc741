#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "net/http_server/exchange.hpp"
#include "server/http/admission.hpp"

// The one place where an Error becomes an answer of the admin API: a problem document (RFC 9457) with `type`, `title`,
// `status`, `detail`, and `errors` if the error's data lists single faults.
namespace proteus::admin {

unsigned problem_status(const Error& error);
std::string write_problem(unsigned status, const Error& error);

// `fields` are complete lines of the response head, made by net::field_lines.
Task<> reply_problem(net::Exchange& exchange, unsigned status, Error error, std::string fields = {});
Task<> reply_problem(net::Exchange& exchange, Error error);
// Rejects a request whose caller was not admitted.
Task<> reply_refusal(net::Exchange& exchange, const server::Refusal& refusal);

}  // namespace proteus::admin
