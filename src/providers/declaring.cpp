#include "providers/declaring.hpp"

#include <fmt/format.h>

namespace proteus::providers {

std::shared_ptr<const client::Handlers> declare_everything(client::Handler handler) {
  auto handlers = std::make_shared<client::Handlers>();
  handlers->elicit_form = handler;
  handlers->elicit_url = handler;
  handlers->sample = handler;
  handlers->list_roots = std::move(handler);
  handlers->sample_with_tools = true;
  handlers->apply_defaults = false;
  return handlers;
}

Task<Result<std::string>> refuse_question(client::Question question) {
  co_return std::unexpected(
      errors::unsupported(fmt::format("{} was not asked for within a request", mcp::to_string(question.method))));
}

}  // namespace proteus::providers
