import type { DynamicModule, INestApplicationContext, LoggerService, ModuleMetadata, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { onTestFinished } from 'vitest';

/** Starts a real application without HTTP, and closes it when the test has finished. */
export async function boot(
  metadata: ModuleMetadata,
  logger: LoggerService | false = false,
): Promise<INestApplicationContext> {
  class AppModule {}
  const root = { module: AppModule, ...metadata };
  const app = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  onTestFinished(() => app.close());
  return app;
}

/** A module that provides these classes to the modules that import it. */
export function moduleWith(...providers: Type[]): DynamicModule {
  class FeatureModule {}
  return { module: FeatureModule, providers, exports: providers };
}

/** A logger that keeps what it is told: level, context and message. */
export interface RecordingLogger extends LoggerService {
  readonly lines: string[];
}

export function recordingLogger(): RecordingLogger {
  const lines: string[] = [];
  const at =
    (level: string) =>
    (message: unknown, ...rest: unknown[]) =>
      void lines.push(`${level} [${rest.at(-1)}] ${message}`);
  return { lines, log: at('log'), error: at('error'), warn: at('warn'), debug: at('debug'), verbose: at('verbose') };
}
