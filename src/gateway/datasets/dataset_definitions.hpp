#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "gateway/datasets/dataset_registry.hpp"

// The definitions of the tools of datasets, as agents read them.
namespace proteus::gateway::dataset_definitions {

boost::json::object no_arguments();
boost::json::object name_argument();
// The arguments of `workup`, which names a dataset, and of `workup_<name>`, which does not.
boost::json::object workup_arguments();
boost::json::object own_workup_arguments();

boost::json::object list_output();
boost::json::object connect_output();
boost::json::object workup_output();

// Returns all tools that are offered, as JSON texts.
std::vector<std::string> write_tools(const DatasetState& state);

}  // namespace proteus::gateway::dataset_definitions
