package slurm

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
)

func (c *cluster) configure() error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	host, _, _ = strings.Cut(host, ".")
	var b strings.Builder
	fmt.Fprintf(&b, conf, c.dir, me.Username, host, freePort())
	for i := range nodes {
		fmt.Fprintf(&b, "NodeName=n%d NodeAddr=127.0.0.1 Port=%d CPUs=4 RealMemory=16000\n", i+1, freePort())
	}
	key := make([]byte, 1024)
	for i := range key {
		key[i] = byte(rand.Uint32())
	}
	for _, step := range []error{
		os.Chmod(c.dir, 0o755),
		os.Mkdir(filepath.Join(c.dir, "state"), 0o700),
		os.Mkdir(filepath.Join(c.dir, "spool"), 0o755),
		os.Mkdir(c.work, 0o755),
		os.WriteFile(filepath.Join(c.dir, "key"), key, 0o600),
		os.WriteFile(c.conf, []byte(b.String()), 0o644),
	} {
		if step != nil {
			return step
		}
	}
	return nil
}

// The daemons listen on loopback alone and use no accounting, no cgroup and no MPI. The CPUs
// of the nodes are what the file says, not what the machine has. A job of the partition urgent preempts
// others, which are told so by their own signal. A job that is requeued
// waits until its old credential has expired: cred_expire, and 5 s is the least.
const conf = `ClusterName=test
SlurmctldHost=%[3]s(127.0.0.1)
SlurmctldPort=%[4]d
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthInfo=socket=%[1]s/socket,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=0
KillWait=5
MailProg=/bin/true
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool/%%n
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/%%n.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/%%n.log
SlurmctldParameters=preempt_send_user_signal
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=60
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=OFF
`

// ports are those that freePort has returned: a daemon listens on its own only a while later.
var ports sync.Map

// freePort returns a port below those that the kernel gives out by itself, another one each time.
func freePort() int {
	for {
		port := 10000 + rand.IntN(20000)
		if _, again := ports.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return port
		}
	}
}
