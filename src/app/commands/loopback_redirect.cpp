#include "app/commands/loopback_redirect.hpp"

#include <fmt/format.h>

#include "auth/fetch/form.hpp"
#include "base/secrets/sealing.hpp"

namespace proteus::app {
namespace {

constexpr std::string_view kPath = "/callback";
constexpr std::string_view kDone =
    "<!doctype html><meta charset=utf-8><title>Proteus</title><p>You may close this page and return to the terminal.";
constexpr std::string_view kNotExpected =
    "<!doctype html><meta charset=utf-8><title>Proteus</title><p>This sign-in was not expected.";

}  // namespace

LoopbackRedirect::LoopbackRedirect()
    : server_(workers_, {}, net::with_body([this](net::Exchange& exchange) { return serve(exchange); })) {
  workers_.run();
}

LoopbackRedirect::~LoopbackRedirect() { server_.stop(); }

Result<> LoopbackRedirect::listen() { return server_.listen(); }

std::string LoopbackRedirect::uri() const { return fmt::format("http://127.0.0.1:{}{}", server_.local_port(), kPath); }

void LoopbackRedirect::expect(std::string state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  led_to_.reset();
}

Result<std::string> LoopbackRedirect::wait(std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  if (!came_.wait_for(lock, patience, [this] { return led_to_.has_value(); }))
    return std::unexpected(errors::timeout("the sign-in in the browser"));
  return *led_to_;
}

bool LoopbackRedirect::take(std::string_view target) {
  const std::size_t query = target.find('?');
  if (target.substr(0, query) != kPath || query == std::string_view::npos) return false;
  const auto form = auth::read_form(target.substr(query + 1));
  const std::lock_guard lock(mutex_);
  if (!form || state_.empty() || led_to_ || !equal_in_constant_time(auth::find_in(*form, "state"), state_))
    return false;
  led_to_ = uri() + std::string(target.substr(query));
  came_.notify_all();
  return true;
}

Task<> LoopbackRedirect::serve(net::Exchange& exchange) {
  const bool is_it = exchange.request().method() == "GET" && take(exchange.request().target());
  co_await exchange.reply({.status = is_it ? 200U : 404U, .content_type = "text/html; charset=utf-8"},
                          is_it ? kDone : kNotExpected);
}

}  // namespace proteus::app
