// Readers of Spark's pipelined shuffle that share their threads. Compiled by Spark's own compiler (Janino: no lambdas, no generics), see
// shared_event_loops.py. Spark makes a Netty event loop (a thread, three file descriptors) for each pair of a writer and a reader, keeps a
// thread per reader that has nothing to do once it has found the writers, and wakes each reader a hundred times a second.
package wiesel.exchange;

import io.netty.channel.EventLoopGroup;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.TaskContext;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.util.IOMode;
import org.apache.spark.network.util.NettyUtils;
import org.apache.spark.shuffle.PipelinedShuffleManager;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.streaming.StreamingShuffleManager;
import org.apache.spark.shuffle.streaming.StreamingShuffleReader;

public class SharedEventLoops extends StreamingShuffleManager {
    private static final String FIELD = "_pipelinedShuffleManager";

    // Returns whether readers that start from now on are of this kind. Other ways to the field would load all classes that Spark's
    // environment names, some of which Spark does not bring along.
    public static boolean install() throws Throwable {
        Class type = Class.forName("org.apache.spark.SparkEnv");
        MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
        Object environment = lookup.findStatic(type, "get", MethodType.methodType(type)).invokeWithArguments(new Object[0]);
        Object now = lookup.findGetter(type, FIELD, PipelinedShuffleManager.class).invokeWithArguments(new Object[] {environment});
        if (now.getClass() != StreamingShuffleManager.class) {
            return false;
        }
        ClientFactories.LOOPS.iterator();
        SharingReader.MESSAGES.getName();
        Object manager = new SharedEventLoops();
        lookup.findSetter(type, FIELD, PipelinedShuffleManager.class).invokeWithArguments(new Object[] {environment, manager});
        return true;
    }

    public ShuffleReader getReader(
            ShuffleHandle handle, int firstMap, int endMap, int first, int end, TaskContext context, ShuffleReadMetricsReporter metrics) {
        return new SharingReader(handle, context);
    }
}

class SharingReader extends StreamingShuffleReader {
    static final Field FACTORIES = Fields.of(StreamingShuffleReader.class, "clientFactories");
    static final Field MESSAGES = Fields.of(StreamingShuffleReader.class, "messageQueue");

    SharingReader(ShuffleHandle handle, TaskContext context) {
        super(
            handle, context, StreamingShuffleReader.$lessinit$greater$default$3(), StreamingShuffleReader.$lessinit$greater$default$4());
        prepare();
        // What it was made for has begun; its thread ends with that.
        taskDiscoveryExecutor().shutdown();
    }

    // Spark's constructor starts the thread that makes clients, so either of the two may come first.
    private synchronized void prepare() {
        if (!(Fields.get(FACTORIES, this) instanceof ClientFactories)) {
            Fields.set(MESSAGES, this, new Messages());
            Fields.set(FACTORIES, this, new ClientFactories());
        }
    }

    public TransportClient createClient(int writer, String host, int port) {
        prepare();
        return super.createClient(writer, host, port);
    }
}

class ClientFactories extends ConcurrentLinkedQueue {
    static final Field GROUP = Fields.of(TransportClientFactory.class, "workerGroup");
    static final EventLoopGroup LOOPS = NettyUtils.createEventLoop(IOMode.AUTO, NettyUtils.defaultNumThreads(0), "wiesel-exchange");

    // Each factory is added before it makes its first connection.
    public boolean add(Object factory) {
        EventLoopGroup own = (EventLoopGroup) Fields.get(GROUP, factory);
        Fields.set(GROUP, factory, LOOPS);
        own.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        return super.add(factory);
    }

    // The reader closes its factories, each of which would end the event loops of all.
    public void forEach(Consumer close) {
        for (Iterator factories = iterator(); factories.hasNext();) {
            Fields.set(GROUP, factories.next(), null);
        }
        super.forEach(close);
    }
}

class Messages extends LinkedBlockingQueue {
    // Between two waits the reader looks whether its task has failed or was cancelled.
    public Object poll(long timeout, TimeUnit unit) throws InterruptedException {
        return super.poll(200, TimeUnit.MILLISECONDS);
    }
}

class Fields {
    static Field of(Class owner, String name) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    static Object get(Field field, Object object) {
        try {
            return field.get(object);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    static void set(Field field, Object object, Object value) {
        try {
            field.set(object, value);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
