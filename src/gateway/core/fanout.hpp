#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/tasks/background_threads.hpp"
#include "base/tasks/debounce.hpp"
#include "base/tasks/task_group.hpp"
#include "catalog/contexts/contexts.hpp"
#include "catalog/view/catalog.hpp"
#include "server/core/listeners.hpp"

namespace proteus::gateway {

// Notifies clients whose lists have changed: at once, and then not again before the debounce window has passed. Changes
// within a window are combined, and changes that were undone within it are dropped. Each client is notified only of
// lists that have changed for it.
//
// Belongs to the thread of the io_context, except for functions that are marked thread-safe.
class Fanout {
 public:
  // The references must outlive it. `background` compares what listeners see.
  Fanout(boost::asio::io_context& io, server::Listeners& listeners, BackgroundThreads& background,
         std::chrono::milliseconds debounce);

  // Thread-safe. Sets the contexts that apply from now on; `state` is the present catalog.
  void set_contexts(catalog::Contexts::Pointer contexts, catalog::CatalogState::Pointer state);
  // Thread-safe.
  void publish(const catalog::Publication& publication);
  // Thread-safe. Reports that lists of an upstream that is listed live have changed. Such lists differ by caller and
  // nobody knows for whom they changed, so all who may see the upstream are notified.
  void lists_changed(catalog::UpstreamName upstream, catalog::KindSet kinds);
  // Thread-safe. Reports that lists have changed for one principal.
  void lists_changed_for(std::string principal, catalog::KindSet kinds);
  // Sets a callback for each kind of list that has changed for a caller who may see everything outside of contexts,
  // whether or not anyone listens. It is called on any thread.
  void set_observer(std::function<void(catalog::Kind)> observer) { observer_ = std::move(observer); }
  Task<> stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    Time at;
    catalog::CatalogState::Pointer before;
    catalog::Contexts::Pointer contexts;  // the contexts before; null for none
    catalog::Change change;               // empty if the contexts changed
  };

  struct Live {
    Time at;  // time of the last change
    catalog::KindSet kinds;
  };
  using LiveByUpstream = std::map<catalog::UpstreamName, Live>;
  using KindsByPrincipal = std::map<std::string, catalog::KindSet>;

  class News;

  void tell_soon();
  Task<> tell_in_turn();
  void collect(const catalog::Publication& publication, Time at);
  void tell(News& news) const;

  boost::asio::io_context& io_;
  server::Listeners& listeners_;
  BackgroundThreads& background_;
  TaskGroup tasks_;
  Debounce telling_;
  std::function<void(catalog::Kind)> observer_;
  boost::asio::steady_timer timer_;
  bool telling_soon_ = false;
  bool stopped_ = false;
  catalog::CatalogState::Pointer after_;
  catalog::Contexts::Pointer contexts_;
  std::vector<Entry> changes_;  // in the order of arrival
  LiveByUpstream live_;
  KindsByPrincipal own_;
};

}  // namespace proteus::gateway
