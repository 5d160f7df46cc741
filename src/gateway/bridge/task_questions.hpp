#pragma once

#include <memory>
#include <string>

#include "client/message/handlers.hpp"
#include "gateway/connections/session_tasks.hpp"

namespace proteus::gateway {

// Asks the client of a session what an upstream asks for one of its tasks: the task has the client's id in the
// question, and the upstream's in the answer.
client::Handler with_task_ids(client::Handler ask, std::shared_ptr<const SessionTasks> tasks, std::string upstream);

}  // namespace proteus::gateway
