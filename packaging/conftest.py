def pytest_configure(config):
    config.addinivalue_line("markers", "tools(*names): programs that the test needs")
