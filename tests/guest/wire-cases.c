// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table; see wire-cases.h. A case with an error of 0 is granted.
 */
#include "wire-cases.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/prefetch.h>

#include "harness.h"

#define INFO	    .cmd = PREFETCH_CMD_INFO_GET
#define PREFETCHERS .cmd = PREFETCH_CMD_PREFETCHER_GET, .flags = NLM_F_DUMP
#define GET	    .cmd = PREFETCH_CMD_SETTING_GET
#define LIST	    .cmd = PREFETCH_CMD_SETTING_GET, .flags = NLM_F_DUMP
#define SET	    .cmd = PREFETCH_CMD_SETTING_SET
#define DEFAULT	    .cmd = PREFETCH_CMD_DEFAULT_SET
#define CORE	    .cmd = PREFETCH_CMD_CORE_GET
#define CORES	    .cmd = PREFETCH_CMD_CORE_GET, .flags = NLM_F_DUMP
#define REPAIR	    .cmd = PREFETCH_CMD_CORE_REPAIR

#define N(type, value)                                      \
	{                                                   \
		PIECE_U32, PREFETCH_A_##type, value, NOBODY \
	}
#define N64(type, value)                                    \
	{                                                   \
		PIECE_U64, PREFETCH_A_##type, value, NOBODY \
	}
#define PID(who)                                          \
	{                                                 \
		PIECE_WHO, PREFETCH_A_SETTING_PID, 0, who \
	}
#define TID(who)                                          \
	{                                                 \
		PIECE_WHO, PREFETCH_A_SETTING_TID, 0, who \
	}
#define START(who, more)                                              \
	{                                                             \
		PIECE_START, PREFETCH_A_SETTING_START_TIME, more, who \
	}
#define TYPE(number)                         \
	{                                    \
		PIECE_U32, number, 1, NOBODY \
	}
#define LONG(type, len)                       \
	{                                     \
		PIECE_LONG, type, len, NOBODY \
	}
#define LIE(type, len)                                    \
	{                                                 \
		PIECE_LIE, PREFETCH_A_##type, len, NOBODY \
	}
#define TAIL(len)                          \
	{                                  \
		PIECE_TAIL, 0, len, NOBODY \
	}
#define NEST(type)                                       \
	{                                                \
		PIECE_NEST, PREFETCH_A_##type, 1, NOBODY \
	}
#define NET(type)                                                             \
	{                                                                     \
		PIECE_U32, PREFETCH_A_##type | NLA_F_NET_BYTEORDER, 1, NOBODY \
	}
#define BY(...)	     .pieces = { __VA_ARGS__ }

#define OFF_1	     N(SETTING_OFF, L2_STREAM)
#define ON_1	     N(SETTING_ON, L2_STREAM)
#define CLEAR_1	     N(SETTING_CLEAR, L2_STREAM)
#define UNKNOWN_BIT  0x4000
#define NOT_HERE     0x20 /* amp: no machine of these tests has it */

#define UNKNOWN_TYPE .error = EINVAL, .text = "Unknown attribute type"
#define UNSUPPORTED  .error = EINVAL, .text = "Unsupported attribute"
#define BAD_LENGTH   .error = EINVAL, .text = "invalid attribute length"
#define LEFTOVER     .error = EINVAL, .text = "bytes leftover"
#define OUT_OF_RANGE .error = ERANGE, .text = "integer out of range"
#define RESERVED     .error = EINVAL, .text = "reserved bit set"
#define TWICE	     .error = EINVAL, .text = "given twice"
#define NO_SUCH_TASK .error = ESRCH, .text = "no such task"
#define EXITED	     .error = ESRCH, .text = "exited"
#define A_THREAD     .error = ESRCH, .text = "name it as tid"
#define BOTH	     .error = EINVAL, .text = "both pid and tid"
#define NEITHER	     .error = EINVAL, .text = "neither pid nor tid"

const struct wire_case wire_cases[] = {
	/* What is right. */
	{ "info", INFO },
	{ "prefetchers", PREFETCHERS },
	{ "get of a process", GET, BY(PID(ME)) },
	{ "get of a thread", GET, BY(TID(MY_THREAD)) },
	{ "get of a first thread", GET, BY(TID(A_CHILD)) },
	{ "list", LIST },
	{ "list of a process", LIST, BY(PID(ME)) },
	{ "list of a thread", LIST, BY(TID(MY_THREAD)) },
	{ "set", SET, BY(PID(A_CHILD), OFF_1) },
	{ "set with its start", SET,
	  BY(PID(A_CHILD), OFF_1, START(A_CHILD, 0)) },
	{ "set with inherit", SET,
	  BY(PID(A_CHILD), OFF_1, N(SETTING_INHERIT, 1)) },
	{ "attributes in another order", SET,
	  BY(CLEAR_1, N(SETTING_INHERIT, 0), PID(A_CHILD)) },
	{ "clear of what this machine lacks", SET,
	  BY(PID(A_CHILD), N(SETTING_CLEAR, NOT_HERE)) },
	{ "masks of zero", SET,
	  BY(PID(A_CHILD), N(SETTING_OFF, 0), N(SETTING_ON, 0)) },
	{ "default", DEFAULT, BY(N(DEFAULT_CLEAR, ALL_FOUR)) },
	{ "core", CORE, BY(N(CORE_DOMAIN, 0)) },
	{ "core, verified", CORE, BY(N(CORE_DOMAIN, 0), N(CORE_VERIFY, 1)) },
	{ "cores", CORES },
	{ "cores, verified", CORES, BY(N(CORE_VERIFY, 1)) },
	{ "repair", REPAIR },
	{ "repair of one", REPAIR, BY(N(CORE_DOMAIN, 0)) },

	/* Commands that there are not. */
	{ "command 0", .cmd = 0, .error = EOPNOTSUPP },
	{ "the command of a notification", .cmd = PREFETCH_CMD_SETTING_NTF,
	  .error = EOPNOTSUPP },
	{ "the command of an event", .cmd = PREFETCH_CMD_CORE_NTF,
	  .error = EOPNOTSUPP },
	{ "the command after the last", .cmd = PREFETCH_CMD_MAX + 1,
	  .error = EOPNOTSUPP },
	{ "command 255", .cmd = 255, .error = EOPNOTSUPP },
	{ "a dump of info", INFO, .flags = NLM_F_DUMP, .error = EOPNOTSUPP },
	{ "a do of prefetchers", .cmd = PREFETCH_CMD_PREFETCHER_GET,
	  .error = EOPNOTSUPP },
	{ "a dump of set", SET, .flags = NLM_F_DUMP, .error = EOPNOTSUPP },
	{ "half of the dump flag", GET, .flags = NLM_F_ROOT, BY(PID(ME)),
	  .error = EINVAL, .text = "nlmsg_flags" },
	{ "flags of creation", SET, .flags = NLM_F_CREATE | NLM_F_EXCL,
	  BY(PID(ME), OFF_1), .error = EINVAL, .text = "nlmsg_flags" },

	/* Attributes that there are not. */
	{ "info with an attribute", INFO, BY(TYPE(2)), UNKNOWN_TYPE, .at = 1 },
	{ "prefetchers with an attribute", PREFETCHERS, BY(TYPE(2)),
	  UNKNOWN_TYPE, .at = 1 },
	{ "attribute 0", GET, BY(PID(ME), TYPE(0)), UNKNOWN_TYPE, .at = 2 },
	{ "an attribute past the last", GET, BY(PID(ME), TYPE(3)), UNKNOWN_TYPE,
	  .at = 2 },
	{ "the highest attribute", SET, BY(TYPE(0x3fff), PID(ME), OFF_1),
	  UNKNOWN_TYPE, .at = 1 },
	{ "an attribute of replies", SET,
	  BY(PID(ME), OFF_1, N(SETTING_WISH_OFF, 1)), UNSUPPORTED, .at = 3 },
	{ "scope in a request", SET, BY(N(SETTING_SCOPE, 1), PID(ME), OFF_1),
	  UNSUPPORTED, .at = 1 },
	{ "a mask in a get", GET, BY(PID(ME), OFF_1), UNKNOWN_TYPE, .at = 2 },
	{ "a core in a list", CORES, BY(N(CORE_DOMAIN, 0)), .error = EINVAL,
	  .at = 1, .ours = true },
	{ "verify in a repair", REPAIR, BY(N(CORE_VERIFY, 1)), UNKNOWN_TYPE,
	  .at = 1 },

	/* Lengths. */
	{ "an empty pid", GET, BY(LONG(PREFETCH_A_SETTING_PID, 0)), BAD_LENGTH,
	  .at = 1 },
	{ "a pid of 1 byte", GET, BY(LONG(PREFETCH_A_SETTING_PID, 1)),
	  BAD_LENGTH, .at = 1 },
	{ "a pid of 3 bytes", SET, BY(OFF_1, LONG(PREFETCH_A_SETTING_PID, 3)),
	  BAD_LENGTH, .at = 2 },
	{ "a pid of 8 bytes", GET, BY(LONG(PREFETCH_A_SETTING_PID, 8)),
	  BAD_LENGTH, .at = 1 },
	{ "a mask of 2 bytes", SET,
	  BY(PID(ME), LONG(PREFETCH_A_SETTING_OFF, 2)), BAD_LENGTH, .at = 2 },
	{ "a mask of 60000 bytes", SET,
	  BY(PID(ME), LONG(PREFETCH_A_SETTING_OFF, 60000)), BAD_LENGTH,
	  .at = 2 },
	{ "a start time of 4 bytes", SET,
	  BY(PID(ME), OFF_1, LONG(PREFETCH_A_SETTING_START_TIME, 4)),
	  BAD_LENGTH, .at = 3 },
	{ "60000 bytes of nothing known", INFO, BY(LONG(77, 60000)),
	  UNKNOWN_TYPE, .at = 1 },
	{ "an attribute longer than the message", GET,
	  BY(LIE(SETTING_PID, 200)), LEFTOVER },
	{ "an attribute of the greatest length", SET,
	  BY(PID(ME), LIE(SETTING_OFF, 0xffff)), LEFTOVER },
	{ "an attribute shorter than its header", SET,
	  BY(PID(ME), LIE(SETTING_OFF, 3)), LEFTOVER },
	{ "an attribute of no length", SET, BY(PID(ME), LIE(SETTING_OFF, 0)),
	  LEFTOVER },
	{ "a byte behind the attributes", GET, BY(PID(ME), TAIL(1)), LEFTOVER },
	{ "three bytes behind the attributes", LIST, BY(PID(ME), TAIL(3)),
	  LEFTOVER },
	{ "a byte and nothing else", DEFAULT, BY(TAIL(1)), LEFTOVER },

	/* Nests, byte order, twice. */
	{ "a nest for a pid", GET, BY(NEST(SETTING_PID)), BAD_LENGTH, .at = 1 },
	{ "a pid flagged as a nest", GET,
	  BY(TYPE(PREFETCH_A_SETTING_PID | NLA_F_NESTED)), .error = EINVAL,
	  .text = "NLA_F_NESTED not expected", .at = 1 },
	{ "a mask flagged as a nest", DEFAULT,
	  BY(TYPE(PREFETCH_A_DEFAULT_OFF | NLA_F_NESTED)), .error = EINVAL,
	  .text = "NLA_F_NESTED not expected", .at = 1 },
	{ "a pid in network order", GET, BY(NET(SETTING_PID)), .error = EINVAL,
	  .text = "byte order", .at = 1 },
	{ "a mask in network order", SET, BY(PID(ME), NET(SETTING_OFF)),
	  .error = EINVAL, .text = "byte order", .at = 2 },
	{ "two pids", SET, BY(PID(ME), PID(A_CHILD), OFF_1), TWICE, .at = 2 },
	{ "the same pid twice", GET, BY(PID(ME), PID(ME)), TWICE, .at = 2 },
	{ "two pids in a list", LIST, BY(PID(ME), PID(ME)), TWICE, .at = 2,
	  .ours = true },
	{ "two masks", SET, BY(PID(ME), OFF_1, N(SETTING_OFF, 2)), TWICE,
	  .at = 3 },
	{ "two masks for the default", DEFAULT,
	  BY(N(DEFAULT_OFF, 1), N(DEFAULT_OFF, 1)), TWICE, .at = 2 },
	{ "two cores", CORE, BY(N(CORE_DOMAIN, 0), N(CORE_DOMAIN, 1)), TWICE,
	  .at = 2 },
	{ "verify twice in a list", CORES,
	  BY(N(CORE_VERIFY, 1), N(CORE_VERIFY, 0)), TWICE, .at = 2,
	  .ours = true },
	{ "two cores to repair", REPAIR,
	  BY(N(CORE_DOMAIN, 0), N(CORE_DOMAIN, 1)), TWICE, .at = 2 },

	/* What lacks. */
	{ "get of nobody", GET, NEITHER, .missing = PREFETCH_A_SETTING_PID },
	{ "set of nobody", SET, BY(OFF_1), NEITHER,
	  .missing = PREFETCH_A_SETTING_PID },
	{ "set of nothing", SET, BY(PID(ME)), .error = EINVAL,
	  .text = "no off, on or clear", .missing = PREFETCH_A_SETTING_OFF },
	{ "set of a start time alone", SET, BY(PID(ME), START(ME, 0)),
	  .error = EINVAL, .text = "no off, on or clear",
	  .missing = PREFETCH_A_SETTING_OFF },
	{ "default of nothing", DEFAULT, .error = EINVAL,
	  .text = "no off, on or clear", .missing = PREFETCH_A_DEFAULT_OFF },
	{ "core without a number", CORE, .error = EINVAL,
	  .text = "no core is given", .missing = PREFETCH_A_CORE_DOMAIN },
	{ "verify without a number", CORE, BY(N(CORE_VERIFY, 1)),
	  .error = EINVAL, .text = "no core is given",
	  .missing = PREFETCH_A_CORE_DOMAIN },

	/* What does not go together. */
	{ "pid and tid", GET, BY(PID(ME), TID(ME)), BOTH, .at = 2 },
	{ "tid and pid", SET, BY(TID(ME), PID(ME), OFF_1), BOTH, .at = 1 },
	{ "pid and tid in a list", LIST, BY(PID(ME), TID(ME)), BOTH, .at = 2,
	  .ours = true },
	{ "off and on", SET, BY(PID(ME), OFF_1, ON_1), .error = EINVAL,
	  .text = "both off and on", .at = 3 },
	{ "off and on overlap in one", SET,
	  BY(PID(ME), N(SETTING_ON, 0x6), N(SETTING_OFF, 0xc)), .error = EINVAL,
	  .text = "both off and on", .at = 2 },
	{ "off and clear", SET, BY(PID(ME), OFF_1, CLEAR_1), .error = EINVAL,
	  .text = "both clear and off or on", .at = 3 },
	{ "on and clear", SET, BY(PID(ME), CLEAR_1, ON_1), .error = EINVAL,
	  .text = "both clear and off or on", .at = 2 },
	{ "default off and on", DEFAULT,
	  BY(N(DEFAULT_OFF, 3), N(DEFAULT_ON, 2)), .error = EINVAL,
	  .text = "both off and on", .at = 2 },
	{ "default on and clear", DEFAULT,
	  BY(N(DEFAULT_CLEAR, 2), N(DEFAULT_ON, 2)), .error = EINVAL,
	  .text = "both clear and off or on", .at = 1 },
	{ "inherit for a thread", SET,
	  BY(TID(ME), OFF_1, N(SETTING_INHERIT, 1)), .error = EINVAL,
	  .text = "cannot be inherited", .at = 3 },
	{ "nothing to inherit", SET, BY(PID(ME), N(SETTING_INHERIT, 1)),
	  .error = EINVAL, .text = "nothing to inherit", .at = 2 },

	/* Values. */
	{ "an unknown prefetcher off", SET,
	  BY(PID(ME), N(SETTING_OFF, UNKNOWN_BIT)), RESERVED, .at = 2 },
	{ "an unknown prefetcher on", SET,
	  BY(PID(ME), N(SETTING_ON, UNKNOWN_BIT | 1)), RESERVED, .at = 2 },
	{ "an unknown prefetcher clear", SET,
	  BY(PID(ME), N(SETTING_CLEAR, 0x80000000)), RESERVED, .at = 2 },
	{ "all bits", DEFAULT, BY(N(DEFAULT_OFF, 0xffffffff)), RESERVED,
	  .at = 1 },
	{ "what this machine lacks", SET, BY(PID(ME), N(SETTING_OFF, NOT_HERE)),
	  .error = EOPNOTSUPP, .text = "amp", .at = 2 },
	{ "what this machine lacks, on", SET,
	  BY(N(SETTING_ON, NOT_HERE | 1), PID(ME)), .error = EOPNOTSUPP,
	  .text = "amp", .at = 1 },
	{ "default of what this machine lacks", DEFAULT,
	  BY(N(DEFAULT_ON, 1), N(DEFAULT_OFF, NOT_HERE)), .error = EOPNOTSUPP,
	  .text = "amp", .at = 2 },
	{ "inherit of 2", SET, BY(PID(ME), OFF_1, N(SETTING_INHERIT, 2)),
	  OUT_OF_RANGE, .at = 3 },
	{ "verify of 2", CORE, BY(N(CORE_DOMAIN, 0), N(CORE_VERIFY, 2)),
	  OUT_OF_RANGE, .at = 2 },
	{ "verify of 2 in a list", CORES, BY(N(CORE_VERIFY, 2)), OUT_OF_RANGE,
	  .at = 1 },
	{ "a core past the last", CORE, BY(N(CORE_DOMAIN, 2)), .error = ENOENT,
	  .text = "no such core", .at = 1 },
	{ "the greatest core", REPAIR, BY(N(CORE_DOMAIN, 0xffffffff)),
	  .error = ENOENT, .text = "no such core", .at = 1 },

	/* Tasks. */
	{ "pid 0", GET, BY(N(SETTING_PID, 0)), OUT_OF_RANGE, .at = 1 },
	{ "tid 0", SET, BY(OFF_1, N(SETTING_TID, 0)), OUT_OF_RANGE, .at = 2 },
	{ "pid 0 in a list", LIST, BY(N(SETTING_PID, 0)), OUT_OF_RANGE,
	  .at = 1 },
	{ "pid -1", GET, BY(N(SETTING_PID, 0xffffffff)), NO_SUCH_TASK,
	  .at = 1 },
	{ "pid -1 in a set", SET, BY(OFF_1, N(SETTING_PID, 0xffffffff)),
	  NO_SUCH_TASK, .at = 2 },
	{ "the least pid", SET, BY(N(SETTING_PID, 0x80000000), OFF_1),
	  NO_SUCH_TASK, .at = 1 },
	{ "a pid that nobody has", GET, BY(PID(NOBODY)), NO_SUCH_TASK,
	  .at = 1 },
	{ "a tid that nobody has", LIST, BY(TID(NOBODY)), NO_SUCH_TASK, .at = 1,
	  .ours = true },
	{ "a dead process", GET, BY(PID(THE_DEAD)), NO_SUCH_TASK, .at = 1 },
	{ "a dead process in a set", SET, BY(PID(THE_DEAD), OFF_1),
	  NO_SUCH_TASK, .at = 1 },
	{ "a dead thread in a set", SET, BY(OFF_1, TID(THE_DEAD)), NO_SUCH_TASK,
	  .at = 2 },
	{ "get of a zombie", GET, BY(PID(A_ZOMBIE)), EXITED, .at = 1 },
	{ "set of a zombie", SET, BY(OFF_1, PID(A_ZOMBIE)), EXITED, .at = 2 },
	{ "set of a zombie thread", SET, BY(OFF_1, TID(A_ZOMBIE)), EXITED,
	  .at = 2 },
	{ "a thread as a process", GET, BY(PID(MY_THREAD)), A_THREAD, .at = 1 },
	{ "another's thread as a process", SET, BY(OFF_1, PID(ITS_THREAD)),
	  A_THREAD, .at = 2 },
	{ "another's thread as a process in a list", LIST, BY(PID(ITS_THREAD)),
	  A_THREAD, .at = 1, .ours = true },
	{ "a start time too early", SET,
	  BY(PID(A_CHILD), OFF_1, START(A_CHILD, UINT64_MAX)), .error = ESRCH,
	  .text = "another time", .at = 3 },
	{ "a start time too late", SET,
	  BY(START(A_CHILD, 1), PID(A_CHILD), OFF_1), .error = ESRCH,
	  .text = "another time", .at = 1 },
	{ "the start time of another", SET,
	  BY(TID(ITS_THREAD), OFF_1, START(A_CHILD, 0)), .error = ESRCH,
	  .text = "another time", .at = 3 },
	{ "a start time of 0", SET,
	  BY(PID(A_CHILD), OFF_1, N64(SETTING_START_TIME, 0)), .error = ESRCH,
	  .text = "another time", .at = 3 },

	/* Rights. */
	{ "a user sets another's process", SET, BY(OFF_1, PID(A_CHILD)),
	  .error = EPERM, .text = "CAP_SYS_NICE", .at = 2, .nobody = true },
	{ "a user sets another's thread", SET, BY(TID(ITS_THREAD), OFF_1),
	  .error = EPERM, .text = "CAP_SYS_NICE", .at = 1, .nobody = true },
	{ "a user sets the default", DEFAULT, BY(N(DEFAULT_OFF, 1)),
	  .error = EPERM, .text = "CAP_SYS_ADMIN", .nobody = true },
	{ "a user repairs", REPAIR, .error = EPERM, .text = "CAP_SYS_ADMIN",
	  .nobody = true },
	{ "a user reads registers", CORE,
	  BY(N(CORE_DOMAIN, 0), N(CORE_VERIFY, 1)), .error = EPERM,
	  .text = "CAP_SYS_ADMIN", .at = 2, .nobody = true },
	{ "a user reads all registers", CORES, BY(N(CORE_VERIFY, 1)),
	  .error = EPERM, .text = "CAP_SYS_ADMIN", .at = 1, .ours = true,
	  .nobody = true },
	{ "a user looks", GET, BY(PID(A_CHILD)), .nobody = true },
	{ "a user lists", LIST, .nobody = true },
	{ "a user looks at a core", CORE, BY(N(CORE_DOMAIN, 1)),
	  .nobody = true },
};

const size_t wire_case_count = ARRAY_SIZE(wire_cases);
