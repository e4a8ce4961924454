"""What says nothing of an error by itself: types, codes and messages that stand for anything."""

from graft_memstore.traces.shapes import shape_of

_TYPES = (
    # Python
    "Exception BaseException AssertionError AttributeError EOFError IOError ImportError "
    "IndexError KeyError LookupError ModuleNotFoundError NameError NotImplementedError "
    "OSError FileNotFoundError PermissionError ConnectionError ConnectionRefusedError "
    "ConnectionResetError TimeoutError RuntimeError StopIteration SyntaxError "
    "IndentationError SystemError SystemExit TypeError UnboundLocalError UnicodeError "
    "UnicodeDecodeError UnicodeEncodeError ValueError ZeroDivisionError CalledProcessError "
    "HTTPError ValidationError OperationalError ProgrammingError IntegrityError "
    # Java and what runs on it
    "Throwable RuntimeException IllegalArgumentException IllegalStateException "
    "NullPointerException IndexOutOfBoundsException ArrayIndexOutOfBoundsException "
    "ClassCastException IOException UncheckedIOException FileNotFoundException "
    "NumberFormatException UnsupportedOperationException ClassNotFoundException "
    "NoClassDefFoundError NoSuchMethodError NoSuchElementException InterruptedException "
    "ExecutionException CompletionException InvocationTargetException OutOfMemoryError "
    "StackOverflowError SQLException SocketException ConnectException SocketTimeoutException "
    "TimeoutException BeanCreationException SecurityException "
    # JavaScript, .NET
    "Error RangeError ReferenceError URIError EvalError AggregateError DOMException "
    "FetchError AxiosError ArgumentException ArgumentNullException InvalidOperationException "
    "NullReferenceException AggregateException npm panic"
)
COMMON_TYPES = frozenset(_TYPES.split())
"""Types that a program raises for anything: one of them alone tells nothing."""

_CODES = (
    "ENOENT EACCES EPERM EEXIST ECONNREFUSED ECONNRESET ECONNABORTED ETIMEDOUT EADDRINUSE EPIPE "
    "ENOTFOUND EAI_AGAIN EINVAL EBUSY EISDIR ENOTDIR ENOTEMPTY EMFILE EOTHER ERROR EXCEPTION "
    "ELIFECYCLE EJSONPARSE E404 E401 E403 HY000"
)
COMMON_CODES = frozenset(_CODES.split())
"""Codes of the system, and of what it is used for, that stand for as many causes."""

_COMMON_MESSAGES = (
    "no such file or directory",
    "permission denied",
    "operation not permitted",
    "connection refused",
    "connection reset by peer",
    "connection timed out",
    "operation timed out",
    "broken pipe",
    "file exists",
    "is a directory",
    "not a directory",
    "directory not empty",
    "no space left on device",
    "too many open files",
    "cannot allocate memory",
    "out of memory",
    "device or resource busy",
    "address already in use",
    "invalid argument",
    "input output error",
    "resource temporarily unavailable",
    "no route to host",
    "network is unreachable",
    "name or service not known",
    "temporary failure in name resolution",
    "command not found",
    "segmentation fault core dumped",
    "segmentation fault",
    "aborted core dumped",
    "syntax error",
    "invalid syntax",
    "unexpected end of file",
    "index out of range",
    "list index out of range",
    "index out of bounds",
    "division by zero",
    "internal server error",
    "an unexpected error occurred",
    "something went wrong",
    "unknown error",
    "context deadline exceeded",
    "process completed",
)
COMMON_SKELETONS = frozenset(shape_of(message).skeleton for message in _COMMON_MESSAGES)
"""Messages, without their fillers, that the system gives to any call that failed."""
