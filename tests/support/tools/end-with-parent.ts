// A process that waits for its parent's next message does not notice that the parent was killed.
process.once('disconnect', () => process.kill(process.pid));
