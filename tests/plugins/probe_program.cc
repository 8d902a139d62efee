// The child of the tests: opens and tries the plug-in that it is given, as the program's own does.

#include "plugin/plugin_library.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  inferscale::report_probe(argv[1]);
  return 0;
}
