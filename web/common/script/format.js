// Numbers as people read them. What does not exist is a dash.

const missing = "–";

// A measured value: three digits or more, thousands apart: 0.0120, 1.20, 12.0, 120, 1,200.
function figure(value) {
  if (value === null || value === undefined) return missing;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001) return value.toExponential(1);
  if (size < 1) return value.toPrecision(3);
  const decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

// A round value or a mark of an axis: as many digits as it needs, at most about four.
function number(value) {
  if (value === null || value === undefined) return missing;
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return value.toExponential(1);
  const digits =
    size < 1
      ? { maximumSignificantDigits: 3 }
      : { maximumFractionDigits: size < 10 ? 2 : size < 100 ? 1 : 0 };
  return value.toLocaleString("en-US", digits);
}

function whole(value) {
  return value === null || value === undefined ? missing : value.toLocaleString("en-US");
}

// 100 % and 0 % are said of all and of none only.
function percent(fraction) {
  if (fraction === null || fraction === undefined) return missing;
  if (fraction === 0 || fraction === 1) return 100 * fraction + " %";
  if (fraction < 0.0001) return "< 0.01 %";
  if (fraction < 1 && fraction > 0.9999) return "> 99.99 %";
  const decimals = fraction < 0.01 || (fraction > 0.99 && fraction < 1) ? 2 : 1;
  return (100 * fraction).toFixed(decimals) + " %";
}

// The unit in which the largest of some latencies is still easy to read.
function latencyUnit(largestMs) {
  return largestMs >= 10000 ? { name: "s", perMs: 0.001 } : { name: "ms", perMs: 1 };
}

function latency(ms) {
  if (ms === null || ms === undefined) return missing;
  const unit = latencyUnit(ms);
  return figure(ms * unit.perMs) + " " + unit.name;
}

// A target is a round number that someone chose.
function target(ms) {
  return ms >= 10000 ? number(ms / 1000) + " s" : number(ms) + " ms";
}

// The unit for the time line of a run that takes so many seconds.
function timeUnit(seconds) {
  if (seconds > 3 * 3600) return { name: "h", perSecond: 1 / 3600 };
  if (seconds > 600) return { name: "min", perSecond: 1 / 60 };
  return { name: "s", perSecond: 1 };
}

function span(seconds) {
  if (seconds === null || seconds === undefined) return missing;
  const unit = timeUnit(seconds);
  return number(seconds * unit.perSecond) + " " + unit.name;
}

function plural(n, word) {
  return whole(n) + " " + word + (n === 1 ? "" : "s");
}

function wasOrWere(n) {
  return n === 1 ? "was" : "were";
}
