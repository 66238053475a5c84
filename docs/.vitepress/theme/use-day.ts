import { onBeforeUnmount, onMounted, reactive } from 'vue';
import type { Answer, Order, Request } from '../budget/messages.ts';
import type { Picture } from '../budget/picture.ts';
import {
  defaultSettings,
  describesDay,
  fromFragment,
  type IncidentKind,
  maxIncidents,
  momentIn,
  type Settings,
  toFragment,
} from '../budget/settings.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const frameMs = 100;

/** The parts of the page that change. */
interface DayState {
  settings: Settings;
  picture: Picture;
  isPlaying: boolean;
  /** Seconds of the day per second. */
  speed: number;
  /** True: the picture is not yet the one that was asked for. */
  isBusy: boolean;
  /** False: the page shows the picture that it came with, and no program runs. */
  hasBegun: boolean;
  /** Why the day cannot go on. */
  failure: string | undefined;
}

/** What a reader can do. */
export interface DayControls {
  readonly state: DayState;
  playOrPause(): void;
  /** Lets a minute pass. */
  step(): void;
  /** Plays the day from midnight. */
  replay(): void;
  /** Lets something happen a second later. */
  add(kind: IncidentKind): void;
  /** Changes settings, and computes the same day with them up to the same moment. */
  change(settings: Partial<Settings>): void;
}

/** Runs the day in a worker. `first`: the picture that the page came with. */
export function useDay(first: Picture): DayControls {
  const state: DayState = reactive({
    settings: defaultSettings,
    picture: first,
    isPlaying: false,
    speed: 1_800,
    isBusy: false,
    hasBegun: false,
    failure: undefined,
  });
  let worker: Worker | undefined;
  let lastId = 0;
  let asked = 0;
  /** The moment that the picture goes to. */
  let target = first.now;
  let timer: ReturnType<typeof setInterval> | undefined;

  function send(order: Order): void {
    worker ??= startWorker();
    state.hasBegun = true;
    lastId += 1;
    asked += 1;
    state.isBusy = true;
    worker.postMessage({ ...order, id: lastId } satisfies Request);
  }

  /** Asks for the next part of the day, once the one before has come. */
  function goOn(): void {
    const { now } = state.picture;
    if (asked === 0 && now < target) send({ type: 'run', until: Math.min(target, now + hourMs) });
  }

  /** Lets the day go on by what it goes on in a frame. */
  function playFrame(): void {
    const { now } = state.picture;
    if (!state.isPlaying || state.isBusy) return;
    if (now >= dayMs) state.isPlaying = false;
    target = Math.min(dayMs, now + state.speed * frameMs);
    goOn();
  }

  function begin(until: number): void {
    target = until;
    state.failure = undefined;
    send({ type: 'start', settings: JSON.parse(JSON.stringify(state.settings)) as Settings });
  }

  function fail(reason: string): void {
    state.failure = reason;
    state.isPlaying = false;
    state.isBusy = false;
  }

  /** Shows the day of an address that the reader followed. */
  function readAddress(): void {
    const { hash } = location;
    const settings = fromFragment(hash);
    const at = momentIn(hash);
    const isShown = at === undefined && toFragment(settings) === toFragment(state.settings);
    if (!describesDay(hash) || isShown) return;
    state.settings = settings;
    state.isPlaying &&= at === undefined;
    begin(at ?? target);
  }

  /** Loads the program of the page. Nobody who only reads needs it. */
  function startWorker(): Worker {
    const started = new Worker(new URL('../budget/worker.ts', import.meta.url), { type: 'module' });
    started.onmessage = ({ data }: { data: Answer }) => {
      asked -= 1;
      if (data.id !== lastId) return;
      if ('failure' in data) {
        fail(data.failure);
        return;
      }
      state.picture = data.picture;
      state.isBusy = data.picture.now < target;
      goOn();
    };
    started.onerror = ({ message }) => fail(message || 'the program of the page could not be loaded');
    return started;
  }

  onMounted(() => {
    readAddress();
    addEventListener('hashchange', readAddress);
    timer = setInterval(playFrame, frameMs);
  });
  onBeforeUnmount(() => {
    clearInterval(timer);
    removeEventListener('hashchange', readAddress);
    worker?.terminate();
  });

  function set(settings: Settings): void {
    state.settings = settings;
    history.replaceState(history.state, '', `#${toFragment(settings)}`);
  }

  return {
    state,
    playOrPause() {
      state.isPlaying = !state.isPlaying;
      if (state.isPlaying && state.picture.now >= dayMs) begin(0);
    },
    step() {
      state.isPlaying = false;
      target = Math.min(dayMs, target + 60_000);
      goOn();
    },
    replay() {
      state.isPlaying = true;
      begin(0);
    },
    add(kind) {
      const atSecond = Math.floor(target / 1_000) + 1;
      if (atSecond * 1_000 >= dayMs || state.settings.incidents.length >= maxIncidents) return;
      const incident = { kind, atSecond };
      set({ ...state.settings, incidents: [...state.settings.incidents, incident] });
      send({ type: 'add', incident });
    },
    change(settings) {
      set({ ...state.settings, ...settings });
      begin(target);
    },
  };
}
