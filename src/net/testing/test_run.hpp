#pragma once

#include "base/testing/test_run.hpp"

namespace proteus::net::test {

using namespace proteus::test;

}  // namespace proteus::net::test
