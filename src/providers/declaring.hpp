#pragma once

#include <memory>

#include "client/message/handlers.hpp"

namespace proteus::providers {

// Handlers of everything a server may ask for, so that all of it is declared: there are servers that offer by it.
std::shared_ptr<const client::Handlers> declare_everything(client::Handler handler);

// Answers a question that nobody is there for.
Task<Result<std::string>> refuse_question(client::Question question);

}  // namespace proteus::providers
