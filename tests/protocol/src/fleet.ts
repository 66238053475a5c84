import { isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { type Client, createClient } from './client.ts';
import { sharedStoreKey } from './exchanges.ts';
import { minute } from './judge/units.ts';
import { createMachine, type Machine } from './machine.ts';
import type { Network } from './network.ts';
import type { Run } from './parts.ts';
import { credentials } from './service.ts';
import { type Agreement, limitOf, phaseAt } from './settings.ts';
import type { Side } from './simulated-store.ts';

/** A process of the fleet: when one dies, another takes its place. */
interface Member {
  readonly machine: Machine;
  readonly clients: readonly Client[];
  /** The secret that this process was given last. */
  secret: string;
}

export interface Fleet {
  readonly members: readonly Member[];
  /** Ends a process, with or without notice, and starts another one a little later. */
  replace(index: number, notice: 'crash' | 'close'): void;
  /** Gives this process the secret that new processes are given: where it is an option, by starting it again. */
  giveSecret(index: number): void;
  /** The options of new processes. */
  secret: string;
  /** Starts a process that is not of the fleet, asks for a token once, and is killed. */
  startMortal(livesMs: number): void;
}

/** Starts the processes. Each calls again and again until faults end. */
export function createFleet(run: Run, network: Network): Fleet {
  const { world, dice, settings, judge } = run;
  const random = run.random.fork('fleet');
  const members: Member[] = [];
  const retryAt = new Map<Client, number>();
  const failing = settings.failing?.audiences;
  const asksForSecret = settings.processes % 2 === 0;
  const fleet: Fleet = { members, replace, giveSecret, secret: credentials.clientSecret, startMortal };
  for (let index = 0; index < settings.processes; index++) start(index, 0);
  for (const { fromMs } of settings.phases.slice(1)) {
    // A rollout takes a while, or the whole fleet stands still and starts again.
    const stepMs = random.chance(0.3) ? 0 : random.between(0.1, 20) * minute;
    for (const index of members.keys()) world.at(fromMs + index * stepMs, () => replace(index, 'close'));
  }

  let mortals = 0;
  function startMortal(livesMs: number): void {
    mortals += 1;
    const { machine, clients } = create(`mortal${mortals}`, 'left', 0);
    void random.pick(clients.filter(({ audience }) => failing?.includes(audience) ?? true)).call();
    world.at(world.now + livesMs, () => machine.kill());
  }

  function start(index: number, generation: number): void {
    const member = create(`p${index}.${generation}`, index % 2 === 0 ? 'left' : 'right', index);
    members[index] = member;
    callAgain(member, index, generation);
  }

  function create(name: string, side: Side, index: number): Member {
    const machine = createMachine(world, name, random.integer(0, 10 * 24 * 60 * minute));
    const { agreements, inheriting = 0 } = phaseAt(settings, world.now);
    const agreement = index < inheriting ? undefined : (agreements[index % agreements.length] as Agreement);
    judge.began(machine, agreement);
    const secretSource = () =>
      new Promise<string>((resolve, reject) => {
        const fails = dice.roll('secret_source_fails');
        machine.clock.setTimer(() => (fails ? reject(new Error('CANARY vault')) : resolve(member.secret)), 5);
      });
    const base: Omit<ServiceAuthOptions, 'audience'> = {
      ...credentials,
      timeoutMs: settings.timeoutMs,
      clientSecret: asksForSecret ? secretSource : fleet.secret,
      issuanceLimit: agreement ? limitOf(agreement) : 'inherit',
      ...(settings.rates.tokens_exchanged && { storeKey: sharedStoreKey }),
      store: network.storeOf(machine, side),
      transport: network.endpoint.transportOf(machine),
      clock: machine.clock,
      instance: machine.name,
    };
    const clients = settings.audiences.map((audience) => createClient(machine, audience, { ...base, audience }, run));
    const member: Member = { machine, clients, secret: fleet.secret };
    return member;
  }

  function callAgain(member: Member, index: number, generation: number): void {
    const { machine, clients } = member;
    // The audiences whose processes die are left to those.
    const asking = settings.dying ? clients.filter(({ audience }) => !failing?.includes(audience)) : clients;
    const waitMs = -Math.log(1 - random.next()) * settings.callEveryMs;
    world.at(world.now + waitMs, () => {
      // Killed in the middle of a call.
      if (!machine.alive && members[index] === member) return restart(index, generation);
      if (world.now > settings.faultsForMs || members[index] !== member) return;
      const callers = random.chance(0.3) ? random.integer(2, 5) : 1;
      machine.deliver(() => {
        for (let asked = settings.callsAtOnce ?? 1; asked > 0; asked--) ask(machine, random.pick(asking), callers);
      });
      callAgain(member, index, generation);
    });
  }

  function ask(machine: Machine, client: Client, callers: number): void {
    // A caller that got a `retryAt` usually does not ask again before it.
    if (machine.clock.now() < (retryAt.get(client) ?? 0) && random.chance(0.95)) return;
    for (let caller = 0; caller < callers; caller++) {
      void client.call().then((error) => {
        retryAt.set(client, (isServiceAuthError(error) && error.retryAt) || 0);
      });
    }
  }

  function restart(index: number, generation: number): void {
    world.at(world.now + random.between(0.05, 5) * minute, () => start(index, generation + 1));
  }

  function replace(index: number, notice: 'crash' | 'close'): void {
    const member = members[index] as Member;
    const { machine, clients } = member;
    if (!machine.alive) return;
    if (world.now < machine.frozenUntil) {
      machine.deliver(() => replace(index, notice));
      return;
    }
    // No more calls to this one.
    members[index] = { ...member };
    const generation = Number(machine.name.split('.')[1]);
    if (notice === 'crash') machine.kill();
    else void Promise.all(clients.map(({ auth }) => auth.close())).then(() => machine.kill());
    restart(index, generation);
  }

  function giveSecret(index: number): void {
    if (asksForSecret) (members[index] as Member).secret = fleet.secret;
    else replace(index, 'close');
  }

  return fleet;
}
