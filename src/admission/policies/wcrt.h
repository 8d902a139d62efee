// Worst-case response time of the first token against its deadline, after the schedulability
// analysis of Chronos (Marref, Tarmissi, Chaibi, "Formal schedulability analysis for LLM
// inference", Frontiers in Computer Science 8, 2026, 10.3389/fcomp.2026.1873627).
//
//   C     = ceil(l / B) gamma + alpha l             prefill of a prompt of l tokens, alone
//   rho   = lambda_max E[C] / replicas              lambda_max: arrivals a second in the busiest
//                                                   bucket of the window; E[C]: the window's mean
//   WCRT  = rho D / (1 - rho) + C_i                 holds for rho < 1 (theorem 1)
//   n*    = (s - gamma) / beta                      sequences whose token gaps stay within s
//                                                   (theorem 3)
//
// Judged in this order:
//   (a) rho >= 1                     overloaded
//   (b) WCRT x safety_factor > D     deadline_infeasible
//   (c) running / replicas + 1 > n*  itl_infeasible
//
// Since D cancels, (b) asks for rho <= (D - C) / (2 D - C): half of the load at most, and it tells
// requests apart only where C is near D.

#pragma once

#include <optional>

#include "admission/registry.h"

namespace inferscale {

struct WcrtOptions {
  double window_s = 60;
  double bucket_s = 5;  // a divisor of the window, to the next whole number of buckets
  double safety_factor = 1;
  bool counts_arrivals = false;  // the load is everybody who comes, else who was admitted
  bool judges_gaps = true;       // test (c), and with it the signal `running`
  bool defers = false;           // else it rejects
  // In place of the service estimate's.
  std::optional<double> alpha_ns_per_token;
  std::optional<double> beta_ns_per_sequence;
  std::optional<double> gamma_ns;
};

// Theorem 1, in whatever unit of time. Infinite for rho >= 1.
double worst_response(double rho, double deadline, double cost);
// Theorem 3: how many sequences may decode at once. None below gamma; without bound for beta 0.
double most_decoding(double itl, double gamma, double beta);

const PolicyCard& wcrt_card();
PolicyFactory read_wcrt(ConfigReader& parameters);

}  // namespace inferscale
