import { createMachine, type Machine } from '../../../tests/protocol/src/machine.ts';
import type { Random } from '../../../tests/protocol/src/random.ts';
import type { World } from '../../../tests/protocol/src/world.ts';
import type { ProcessState } from './picture.ts';

/** What runs in a process: a client, and its calls of the API. */
export interface Program {
  /** Calls the API once, and resolves with the status of the answer. Rejects if there was no token. */
  call(): Promise<number>;
  /** The token that the process sent last, or has in memory. Undefined: it got none. */
  token(): string | undefined;
  close(): Promise<void>;
}

/** Processes that call the API all day. */
export interface Fleet {
  readonly members: readonly Member[];
  readonly answered: number;
  readonly failed: number;
  /** Replaces every process, one after the other. */
  deploy(): void;
  /** Ends a process without notice. */
  crash(index: number): void;
}

/** One process. */
interface Member {
  readonly machine: Machine;
  readonly program: Program;
  state: ProcessState;
  /** The token that it uses. */
  readonly token: string | undefined;
}

const second = 1_000;
const everyMs = [30 * second, 90 * second] as const;
const betweenDeploysMs = 10 * second;
const startMs = { deploy: 5 * second, crash: 30 * second };

/** Creates a fleet. `start`: runs the program in a new process. */
export function createFleet(world: World, random: Random, size: number, start: (machine: Machine) => Program): Fleet {
  const members: Member[] = [];
  let generation = 0;
  let answered = 0;
  let failed = 0;
  for (let index = 0; index < size; index++) begin(index);

  function begin(index: number): void {
    generation += 1;
    const machine = createMachine(world, `${index + 1}.${generation}`, 0);
    const program = start(machine);
    const member: Member = {
      machine,
      program,
      state: 'calling',
      get token() {
        return machine.alive && this.state !== 'down' ? program.token() : undefined;
      },
    };
    members[index] = member;
    world.at(world.now + random.between(0, 20 * second), () => callAgain(member));
  }

  function callAgain(member: Member): void {
    if (!member.machine.alive) return;
    member.program.call().then(
      (status) => ended(member, status === 200),
      () => ended(member, false),
    );
    world.at(world.now + random.between(...everyMs), () => callAgain(member));
  }

  function ended(member: Member, isAnswered: boolean): void {
    if (!member.machine.alive) return;
    member.state = isAnswered ? 'calling' : 'failing';
    if (isAnswered) answered += 1;
    else failed += 1;
  }

  function replace(index: number, how: 'deploy' | 'crash'): void {
    const member = members[index];
    if (!member?.machine.alive) return;
    member.state = 'down';
    if (how === 'crash') member.machine.kill();
    else void member.program.close().then(() => member.machine.kill());
    world.at(world.now + startMs[how], () => begin(index));
  }

  return {
    members,
    get answered() {
      return answered;
    },
    get failed() {
      return failed;
    },
    deploy() {
      for (const index of members.keys())
        world.at(world.now + index * betweenDeploysMs, () => replace(index, 'deploy'));
    },
    crash: (index) => replace(index, 'crash'),
  };
}
