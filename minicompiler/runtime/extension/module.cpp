// The module: its types, as Python sees them.

PyMODINIT_FUNC PyInit_minicompiler_runtime() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "minicompiler_runtime",
                                   "The run time of compiled graphs.", -1, nullptr};
  PyObject* module = PyModule_Create(&definition);
  if (!module) return nullptr;
  std::pair<const char*, PyObject*> types[] = {
      {"Plan", minicompiler::Callable<minicompiler::Plan>::type()},
      {"TensorGuard", minicompiler::Callable<minicompiler::TensorGuard>::type()},
      {"FrameGuard", minicompiler::Callable<minicompiler::FrameGuard>::type()},
      {"Function", minicompiler::Callable<minicompiler::Function>::type()},
  };
  for (auto [name, type] : types)
    if (!type || PyModule_AddObject(module, name, type) < 0) return nullptr;
  return module;
}
